// What must be told, and may be, of producers and keys.

#include <algorithm>
#include <map>
#include <set>

#include "tests/histories/oracle_rules.h"

namespace partita::test::histories {

bool Oracle::is_surely_known(std::size_t producer) const {
    return script_.producers[producer].placing != Placing::at_random && is_told_before(producer, diary_.epoch());
}

bool Oracle::is_told_at_some_epoch(std::size_t producer) const { return is_told_before(producer, diary_.epoch() + 1); }

bool Oracle::is_told_before(std::size_t producer, int end_epoch) const {
    for (int epoch = 0; epoch < end_epoch; ++epoch) {
        std::set<int> keys;
        std::set<int> counts;
        for_each_record([&](int, std::int64_t, const Written& record) {
            if (static_cast<std::size_t>(record.producer) != producer || record.epoch != epoch || !is_remembered(record)) return;
            keys.insert(record.key);
            counts.insert(record.count);
        });
        if (keys.size() >= kKeysToKnow && counts.size() == 1) return true;
    }
    return false;
}

// H04: records since the last growth that only an old count explains, of producers that have not sent any since that only the new
// one does.
void Oracle::stale_producers() {
    for (std::size_t producer = 0; producer < script_.producers.size(); ++producer) {
        const ProducerCast& cast = script_.producers[producer];
        std::int64_t stale = 0;
        std::int64_t surely = 0;
        bool has_switched = false;
        for_each_record([&](int partition, std::int64_t, const Written& record) {
            if (static_cast<std::size_t>(record.producer) != producer || record.epoch != diary_.epoch() || !is_remembered(record)) return;
            stale += is_stale(record, partition) ? 1 : 0;
            surely += is_surely_stale(record, partition) ? 1 : 0;
            if (record.count == diary_.count()) has_switched |= std::ranges::none_of(diary_.growths, [&](const Growth& growth) {
                return place(cast.placing, key_text(record.key), growth.from) == partition;
            });
        });
        const bool is_alone = producers_called(cast.caller).size() == 1;
        const bool is_due = is_alone && is_surely_known(producer) && sees_all_;
        if (!has_switched) add("H04", to_string(cast.caller), is_due ? surely : 1, is_alone ? stale : diary_.records, is_due && surely > 0, "records since the growth that only an old count explains");
    }
}

// H08: partitioners in use, of those that can be told.
void Oracle::mixed_partitioners() {
    std::set<Placing> used;
    std::set<Placing> told;
    for (std::size_t producer = 0; producer < script_.producers.size(); ++producer) {
        const ProducerCast& cast = script_.producers[producer];
        if (cast.placing == Placing::at_random) continue;
        bool has_sent = false;
        for (int epoch = 0; epoch <= diary_.epoch(); ++epoch) has_sent |= !keys_of(producer, epoch).empty();
        if (has_sent) used.insert(cast.placing);
        if (has_sent && producers_called(cast.caller).size() == 1 && is_told_at_some_epoch(producer)) told.insert(cast.placing);
    }
    if (used.size() < 2) return;
    const auto least = static_cast<std::int64_t>(told.size());
    add("H08", "", std::max<std::int64_t>(least, 2), static_cast<std::int64_t>(script_.producers.size()), least >= 2 && sees_all_, "partitioners of the topic's producers");
}

// H11: a producer that ignores keys sent enough of them again.
void Oracle::ignored_keys() {
    for (std::size_t producer = 0; producer < script_.producers.size(); ++producer) {
        const ProducerCast& cast = script_.producers[producer];
        if (cast.placing == Placing::at_random) add("H11", to_string(cast.caller), 1, 1, false, "places keys at random");
        // Several behind one name look like one that cannot decide.
        if (producers_called(cast.caller).size() > 1) add("H11", to_string(cast.caller), 1, 1, false, "several producers behind one name");
    }
}

/// One partitioner, at the counts that the topic has had, puts the key into all of its partitions.
bool Oracle::is_move_explained(int key) const {
    std::set<int> partitions;
    for_each_record([&](int partition, std::int64_t, const Written& record) {
        if (record.key == key && is_remembered(record)) partitions.insert(partition);
    });
    std::set<int> counts{diary_.count()};
    for (const Growth& growth : diary_.growths) counts.insert(growth.from);
    for (const ProducerCast& producer : script_.producers) {
        if (producer.placing == Placing::at_random) continue;
        for (std::size_t rule = 0; rule < 3; ++rule) {
            std::set<int> explained;
            for (const int count : counts) explained.insert(places_of_siblings(producer.placing, key_text(key), count)[rule]);
            if (std::ranges::includes(explained, partitions)) return true;
        }
    }
    return false;
}

// H09: keys with records in two partitions that were written within one count. Those that a stale producer explains are H04's.
void Oracle::keys_in_two_partitions() {
    std::map<std::pair<int, int>, std::set<int>> partitions_of;
    for_each_record([&](int partition, std::int64_t offset, const Written& record) {
        if (is_remembered(record) && offset >= diary_.partitions[static_cast<std::size_t>(partition)].start) partitions_of[{record.key, record.epoch}].insert(partition);
    });
    std::set<int> keys;
    std::int64_t surely = 0;
    for (const auto& [where, partitions] : partitions_of) {
        if (partitions.size() < 2 || !keys.insert(where.first).second) continue;
        surely += is_move_explained(where.first) ? 0 : 1;
    }
    const bool some_hash = std::ranges::any_of(script_.producers, [](const ProducerCast& cast) { return cast.placing != Placing::at_random; });
    add("H09", "", sees_all_ && some_hash ? surely : 1, of_keys(static_cast<std::int64_t>(keys.size())), sees_all_ && some_hash && surely > 0, "keys with records in two partitions within one count");
}

// H40: keys of a compacted topic with a value where their producers do not write them any more.
void Oracle::orphans() {
    if (!script_.is_compacted) return;
    std::set<Placing> used;
    bool is_known = false;
    bool all_have_switched = true;
    for (std::size_t producer = 0; producer < script_.producers.size(); ++producer) {
        used.insert(script_.producers[producer].placing);
        is_known |= is_told_at_some_epoch(producer);
    }
    std::map<std::pair<int, int>, std::pair<std::int64_t, Written>> newest;
    std::map<int, int> last_count;
    std::map<int, std::int64_t> last_order;
    for_each_record([&](int partition, std::int64_t offset, const Written& record) {
        if (!is_remembered(record)) return;
        newest[{record.key, partition}] = {offset, record};
        if (record.order >= last_order[record.producer]) {
            last_order[record.producer] = record.order;
            last_count[record.producer] = record.count;
        }
    });
    for (const auto& [producer, count] : last_count) all_have_switched &= count == diary_.count();
    std::set<int> orphans;
    std::set<int> surely;
    for (const auto& [where, last] : newest) {
        const auto& [key, partition] = where;
        const auto& [offset, record] = last;
        if (record.is_tombstone || offset < diary_.partitions[static_cast<std::size_t>(partition)].start) continue;
        bool is_home = false;
        for (const Placing placing : used) is_home |= placing != Placing::at_random && place(placing, key_text(key), diary_.count()) == partition;
        if (is_home && used.size() == 1) continue;
        orphans.insert(key);
        if (record.epoch < diary_.epoch() || all_have_switched) surely.insert(key);
    }
    const bool is_due = sees_all_ && is_known && used.size() == 1 && !used.contains(Placing::at_random);
    add("H40", "", is_due ? static_cast<std::int64_t>(surely.size())   : 1, of_keys(static_cast<std::int64_t>(orphans.size())), is_due && !surely.empty(), "keys with a value away from home");
}

// H41: keys whose newest record in one partition is a value, and in another a later tombstone.
void Oracle::missed_tombstones() {
    if (!script_.is_compacted) return;
    std::map<int, std::map<int, std::pair<std::int64_t, Written>>> newest;
    for_each_record([&](int partition, std::int64_t offset, const Written& record) {
        if (is_remembered(record)) newest[record.key][partition] = {offset, record};
    });
    std::int64_t keys = 0;
    bool is_exact = sees_all_;
    for (const auto& [key, partitions] : newest) {
        bool is_missed = false;
        // More partitions of a key than that are not kept.
        is_exact &= partitions.size() <= 4;
        for (const auto& [here, deletion] : partitions) {
            for (const auto& [there, value] : partitions) {
                is_missed |= deletion.second.is_tombstone && !value.second.is_tombstone && value.second.order < deletion.second.order &&
                             value.first >= diary_.partitions[static_cast<std::size_t>(there)].start;
            }
        }
        keys += is_missed ? 1 : 0;
    }
    add("H41", "", is_exact ? keys : 1, of_keys(keys), is_exact, "keys deleted in one partition while another holds an older value");
}

}  // namespace partita::test::histories
