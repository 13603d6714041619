// The findings about producers and keys that the broker must or may tell.

#include <algorithm>
#include <map>
#include <set>

#include "tests/histories/oracle_rules.h"

namespace partita::test::histories {

bool Oracle::is_surely_known(std::size_t producer, int epoch) const {
    return script_.producers[producer].placing != Placing::at_random && is_told_before(producer, epoch);
}

bool Oracle::is_told_at_some_epoch(std::size_t producer) const { return is_told_before(producer, diary_.epoch() + 1); }

bool Oracle::is_told_before(std::size_t producer, int end_epoch) const {
    for (int epoch = 0; epoch < end_epoch; ++epoch) {
        std::set<int> keys;
        std::set<int> counts;
        for_each_record([&](int, std::int64_t, const Written& record) {
            if (static_cast<std::size_t>(record.producer) != producer || record.epoch != epoch || !is_remembered(record)) {
                return;
            }
            keys.insert(record.key);
            counts.insert(record.count);
        });
        if (keys.size() >= kKeysToKnow && counts.size() == 1) {
            return true;
        }
    }
    return false;
}

bool Oracle::proves_switch(const Written& record, int partition, bool surely) const {
    const Placing placing = script_.producers[static_cast<std::size_t>(record.producer)].placing;
    if (record.epoch != diary_.epoch() || record.count != diary_.count() || placing == Placing::at_random) {
        return false;
    }
    const bool is_explained_before = std::ranges::any_of(diary_.growths, [&](const Growth& growth) {
        return surely ? std::ranges::count(places_of_siblings(placing, key_text(record.key), growth.from), partition) > 0
                      : place(placing, key_text(record.key), growth.from) == partition;
    });
    return !is_explained_before;
}

bool Oracle::has_sent(std::size_t producer) const {
    bool has_sent = false;
    for_each_record([&](int, std::int64_t, const Written& record) {
        has_sent |= static_cast<std::size_t>(record.producer) == producer && is_remembered(record);
    });
    return has_sent;
}

bool Oracle::has_switched(std::size_t producer, bool surely) const {
    bool has_switched = false;
    for_each_record([&](int partition, std::int64_t, const Written& record) {
        has_switched |= static_cast<std::size_t>(record.producer) == producer && is_remembered(record) &&
                        proves_switch(record, partition, surely);
    });
    return has_switched && (!surely || is_surely_known(producer, diary_.epoch()));
}

Oracle::StaleWork Oracle::stale_work(std::size_t producer, int epoch) const {
    StaleWork work;
    for_each_record([&](int partition, std::int64_t offset, const Written& record) {
        if (static_cast<std::size_t>(record.producer) != producer || record.epoch != epoch || !is_remembered(record)) {
            return;
        }
        if (!is_stale(record, partition, epoch)) {
            return;
        }
        ++work.records;
        work.last[partition] = offset;
        if (!is_surely_stale(record, partition, epoch)) {
            return;
        }
        ++work.surely;
        work.last_surely[partition] = offset;
    });
    return work;
}

bool Oracle::is_in_log(const std::map<int, std::int64_t>& last) const {
    return std::ranges::any_of(
        last, [&](const auto& place) { return diary_.partitions[static_cast<std::size_t>(place.first)].start <= place.second; });
}

// H04: records since the last growth that only an old count explains, from producers that have sent none since that only the new
// count explains. Also such records of every growth and all producers, as long as the log holds the last one of a partition.
void Oracle::stale_producers() {
    for (std::size_t producer = 0; producer < script_.producers.size(); ++producer) {
        const StaleWork work = stale_work(producer, diary_.epoch());
        const bool is_due = is_surely_known(producer, diary_.epoch()) && sees_all_ && work.surely > 0;
        if (has_switched(producer, false)) {
            continue;
        }
        add("H04", to_string(script_.producers[producer].caller), is_due ? work.surely : 1, work.records, is_due,
            "records since the growth that only an old count explains");
    }
    for (int epoch = 1; epoch <= diary_.epoch(); ++epoch) {
        stale_leftovers(epoch);
    }
}

// The broker tells the leftovers of all producers with one name together.
void Oracle::stale_leftovers(int epoch) {
    std::map<Caller, StaleWork> by_name;
    std::set<Caller> due;
    for (std::size_t producer = 0; producer < script_.producers.size(); ++producer) {
        const Caller& caller = script_.producers[producer].caller;
        const StaleWork work = stale_work(producer, epoch);
        StaleWork& all = by_name[caller];
        all.records += work.records;
        for (const auto& [partition, offset] : work.last) {
            all.last[partition] = std::max(all.last[partition], offset);
        }
        if (!is_surely_known(producer, epoch) || !sees_all_) {
            continue;
        }
        all.surely += work.surely;
        if (is_in_log(work.last_surely)) {
            due.insert(caller);
        }
    }
    for (const auto& [caller, work] : by_name) {
        if (!is_in_log(work.last)) {
            continue;
        }
        add("H04", to_string(caller), std::max<std::int64_t>(work.surely, 1), work.records, due.contains(caller),
            "records by an old count that are still there");
    }
}

// H08: partitioners in use, among those that the broker can tell apart.
void Oracle::mixed_partitioners() {
    std::set<Placing> used;
    std::set<Placing> told;
    for (std::size_t producer = 0; producer < script_.producers.size(); ++producer) {
        const ProducerCast& cast = script_.producers[producer];
        if (cast.placing == Placing::at_random) {
            continue;
        }
        if (!has_sent(producer)) {
            continue;
        }
        used.insert(cast.placing);
        if (producers_called(cast.caller).size() == 1 && is_told_at_some_epoch(producer)) {
            told.insert(cast.placing);
        }
    }
    if (used.size() < 2) {
        return;
    }
    const auto least = static_cast<std::int64_t>(told.size());
    add("H08", "", std::max<std::int64_t>(least, 2), static_cast<std::int64_t>(script_.producers.size()), least >= 2 && sees_all_,
        "partitioners of the topic's producers");
}

// H11: a producer that ignores keys sent enough of them again.
void Oracle::ignored_keys() {
    for (std::size_t producer = 0; producer < script_.producers.size(); ++producer) {
        const ProducerCast& cast = script_.producers[producer];
        if (cast.placing == Placing::at_random) {
            add("H11", to_string(cast.caller), 1, 1, false, "places keys at random");
        }
        // Several producers behind one name look like one that cannot decide.
        if (producers_called(cast.caller).size() > 1) {
            add("H11", to_string(cast.caller), 1, 1, false, "several producers behind one name");
        }
    }
}

/// True when one partitioner, at the counts that the topic has had, puts the key into all of its partitions.
bool Oracle::is_move_explained(int key) const {
    std::set<int> partitions;
    for_each_record([&](int partition, std::int64_t, const Written& record) {
        if (record.key == key && is_remembered(record)) {
            partitions.insert(partition);
        }
    });
    std::set<int> counts{diary_.count()};
    for (const Growth& growth : diary_.growths) {
        counts.insert(growth.from);
    }
    for (const ProducerCast& producer : script_.producers) {
        if (producer.placing == Placing::at_random) {
            continue;
        }
        for (std::size_t rule = 0; rule < 3; ++rule) {
            std::set<int> explained;
            for (const int count : counts) {
                explained.insert(places_of_siblings(producer.placing, key_text(key), count)[rule]);
            }
            if (std::ranges::includes(explained, partitions)) {
                return true;
            }
        }
    }
    return false;
}

// H09: keys with records in two partitions that were written within one count. Keys that a stale producer explains belong to H04.
void Oracle::keys_in_two_partitions() {
    std::map<std::pair<int, int>, std::set<int>> partitions_of;
    for_each_record([&](int partition, std::int64_t offset, const Written& record) {
        if (is_remembered(record) && offset >= diary_.partitions[static_cast<std::size_t>(partition)].start) {
            partitions_of[{record.key, record.epoch}].insert(partition);
        }
    });
    std::set<int> keys;
    std::int64_t surely = 0;
    for (const auto& [where, partitions] : partitions_of) {
        if (partitions.size() < 2 || !keys.insert(where.first).second) {
            continue;
        }
        surely += is_move_explained(where.first) ? 0 : 1;
    }
    // When all producers that the broker has seen ignore keys, the finding is H11. A broker that was started again has seen only
    // producers that wrote since.
    bool some_hash = false;
    for (std::size_t producer = 0; producer < script_.producers.size(); ++producer) {
        some_hash |= script_.producers[producer].placing != Placing::at_random && has_sent(producer);
    }
    add("H09", "", sees_all_ && some_hash ? surely : 1, of_keys(static_cast<std::int64_t>(keys.size())),
        sees_all_ && some_hash && surely > 0, "keys with records in two partitions within one count",
        static_cast<std::int64_t>(keys.size()));
}

// H40: keys of a compacted topic with a value where their producers do not write them any more. A key that came after the last
// growth counts when it was written elsewhere since, or when all its writers have switched.
void Oracle::orphans() {
    if (!script_.is_compacted) {
        return;
    }
    std::set<Placing> used;
    bool is_known = false;
    bool may_all_have_switched = true;
    bool have_all_switched = true;
    for (std::size_t producer = 0; producer < script_.producers.size(); ++producer) {
        used.insert(script_.producers[producer].placing);
        is_known |= is_told_at_some_epoch(producer);
        if (!has_sent(producer)) {
            continue;
        }
        may_all_have_switched &= has_switched(producer, false);
        have_all_switched &= has_switched(producer, true);
    }
    std::map<int, std::map<int, std::pair<std::int64_t, Written>>> newest;
    for_each_record([&](int partition, std::int64_t offset, const Written& record) {
        if (is_remembered(record)) {
            newest[record.key][partition] = {offset, record};
        }
    });
    std::int64_t orphans = 0;
    std::int64_t surely = 0;
    const bool is_one_rule = used.size() == 1 && !used.contains(Placing::at_random);
    for (const auto& [key, partitions] : newest) {
        bool is_orphan = false;
        bool is_surely = false;
        std::int64_t last_order = 0;
        for (const auto& [partition, last] : partitions) {
            last_order = std::max(last_order, last.second.order);
        }
        for (const auto& [partition, last] : partitions) {
            const auto& [offset, record] = last;
            if (record.is_tombstone || offset < diary_.partitions[static_cast<std::size_t>(partition)].start) {
                continue;
            }
            if (is_one_rule && place(*used.begin(), key_text(key), diary_.count()) == partition) {
                continue;
            }
            const bool is_left = record.epoch < diary_.epoch() || record.order < last_order;
            is_orphan |= is_left || may_all_have_switched || !is_one_rule;
            // The broker does not keep more partitions of a key than that.
            is_surely |= (is_left || have_all_switched) && partitions.size() <= 4;
        }
        orphans += is_orphan ? 1 : 0;
        surely += is_surely ? 1 : 0;
    }
    const bool is_due = sees_all_ && is_known && is_one_rule;
    add("H40", "", is_due ? surely : 1, of_keys(orphans), is_due && surely > 0, "keys with a value away from home");
}

// H41: keys whose newest record in one partition is a value, and in another a later tombstone.
void Oracle::missed_tombstones() {
    if (!script_.is_compacted) {
        return;
    }
    std::map<int, std::map<int, std::pair<std::int64_t, Written>>> newest;
    for_each_record([&](int partition, std::int64_t offset, const Written& record) {
        if (is_remembered(record)) {
            newest[record.key][partition] = {offset, record};
        }
    });
    std::int64_t keys = 0;
    bool is_exact = sees_all_;
    for (const auto& [key, partitions] : newest) {
        bool is_missed = false;
        // The broker does not keep more partitions of a key than that.
        is_exact &= partitions.size() <= 4;
        for (const auto& [here, deletion] : partitions) {
            for (const auto& [there, value] : partitions) {
                is_missed |= deletion.second.is_tombstone && !value.second.is_tombstone &&
                             value.second.order < deletion.second.order &&
                             value.first >= diary_.partitions[static_cast<std::size_t>(there)].start;
            }
        }
        keys += is_missed ? 1 : 0;
    }
    add("H41", "", is_exact ? keys : 1, of_keys(keys), is_exact,
        "keys deleted in one partition while another holds an older value");
}

}  // namespace partita::test::histories
