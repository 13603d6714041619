#include "tests/simulation/broker_world_ledger.h"

#include <algorithm>
#include <utility>

namespace partita::test {
namespace {

std::string text_of(const Ledger::Place& place) { return place.first + "-" + std::to_string(place.second); }

}  // namespace

void Ledger::note_record(const Place& place, std::int64_t offset, const std::string& value) {
    Records& records = records_[place];
    const auto [at, is_new_offset] = records.at.emplace(offset, Record{value, clock_.now().monotonic});
    if (!is_new_offset && at->second.value != value) {
        note_wrong("offset " + std::to_string(offset) + " of " + text_of(place) + " was given to " + at->second.value +
                   " and to " + value);
    }
    const auto [where, is_new_value] = records.where.emplace(value, offset);
    if (!is_new_value && where->second != offset) {
        note_wrong(value + " is in " + text_of(place) + " at " + std::to_string(where->second) + " and at " +
                   std::to_string(offset));
    }
}

void Ledger::note_acknowledged(const Place& place, std::int64_t offset, const std::string& value) {
    note_record(place, offset, value);
    records_[place].at[offset].is_acknowledged = true;
    if (!synced_topics.contains(place.first)) {
        return;
    }
    // After a power failure the partition count may be unknown. It is at least this one.
    if (place.second >= count_of(place.first)) {
        note_count(place.first, place.second + 1);
    }
    note_synced(place);
}

void Ledger::note_seen(const Place& place, std::int64_t offset, const std::string& value, bool committed_only) {
    note_record(place, offset, value);
    if (committed_only && open_.contains(value)) {
        note_wrong("a reader of committed records was given " + value + " of " + text_of(place) + ", whose transaction is open");
    }
}

void Ledger::check_whole(const Place& place, const std::map<std::int64_t, std::string>& found) {
    for (const auto& [offset, value] : found) {
        note_record(place, offset, value);
    }
    for (const auto& [offset, record] : records_[place].at) {
        if (!found.contains(offset)) {
            note_wrong(record.value + ", which was " + (record.is_acknowledged ? "acknowledged" : "read") + " at " +
                       std::to_string(offset) + " of " + text_of(place) + ", is gone");
        }
    }
}

void Ledger::note_count(const std::string& topic, std::int32_t count) {
    if (count < count_of(topic)) {
        note_wrong(topic + " has " + std::to_string(count) + " partitions, and had " + std::to_string(count_of(topic)));
    } else if (count > count_of(topic)) {
        counts_[topic].emplace_back(count, clock_.now().monotonic);
    }
}

void Ledger::note_owner(const std::string& group, std::int32_t generation, const Place& place, const std::string& member) {
    const auto [known, is_new] = owners_[{group, generation}].emplace(place, member);
    if (!is_new && known->second != member) {
        note_wrong(text_of(place) + " belongs to " + known->second + " and to " + member + " in generation " +
                   std::to_string(generation) + " of " + group);
    }
}

std::int64_t Ledger::committed(const std::string& group, const Place& place) const {
    const auto of_group = committed_.find(group);
    if (of_group == committed_.end()) {
        return -1;
    }
    const auto known = of_group->second.find(place);
    return known == of_group->second.end() ? -1 : known->second.offset;
}

void Ledger::note_committed(const std::string& group, const Place& place, std::int64_t offset) {
    Committed& known = committed_[group][place];
    if (offset > known.offset) {
        known = {offset, clock_.now().monotonic};
    }
}

void Ledger::check_committed(const std::string& group, const Place& place, std::int64_t acknowledged, std::int64_t offset) {
    constexpr std::int64_t kSeed = 0;
    if (offset < acknowledged) {
        note_wrong(group + " committed " + std::to_string(acknowledged) + " of " + text_of(place) + " and finds " +
                   std::to_string(offset));
    }
    if (offset > kSeed && !wanted_commits_[group][place].contains(offset)) {
        note_wrong(group + " finds " + std::to_string(offset) + " of " + text_of(place) + ", which nobody committed");
    }
    if (offset >= 0 && place.second >= count_of(place.first) && !growth_may_be_under_way_ && !has_lost_growth_) {
        note_wrong(group + " has an offset for " + text_of(place) + ", which is not there");
    }
    if (offset < 0 && place.second < count_of(place.first) && has_read_at_growth(group, place)) {
        note_wrong(group + " read " + place.first + " when it grew, and has no offset for " + text_of(place));
    }
}

std::size_t Ledger::note_growth_wanted(const std::string& topic, std::int32_t from, std::int32_t to, bool seeded) {
    Growth& growth = growths_.emplace_back(Growth{.topic = topic, .from = from, .to = to, .readers = {}});
    for (const auto& [group, places] : committed_) {
        if ((gives_seeds || seeded) && reads(group, topic)) {
            growth.readers.insert(group);
        }
    }
    return growths_.size() - 1;
}

bool Ledger::reads(const std::string& group, const std::string& topic) const {
    const auto places = committed_.find(group);
    return places != committed_.end() &&
           std::ranges::any_of(places->second, [&](const auto& place) { return place.first.first == topic; });
}

bool Ledger::has_read_at_growth(const std::string& group, const Place& place) const {
    return std::ranges::any_of(growths_, [&](const Growth& growth) {
        return growth.topic == place.first && growth.from <= place.second && place.second < growth.to &&
               growth.readers.contains(group);
    });
}

template <class Use>
void Ledger::for_each_time(Use use) {
    for (auto& [topic, counts] : counts_) {
        for (auto& [count, told] : counts) {
            use(told);
        }
    }
    for (auto& [place, records] : records_) {
        for (auto& [offset, record] : records.at) {
            use(record.told);
        }
    }
    for (auto& [group, places] : committed_) {
        for (auto& [place, committed] : places) {
            use(committed.told);
        }
    }
}

void Ledger::note_kill(Instant died, Instant started) {
    growth_may_be_under_way_ = false;
    for_each_time([&](Instant& told) {
        if (died - told < kUnsyncedMs) {
            told = started;
        }
    });
}

void Ledger::forget_unsynced_records(const Place& place, Records& records, Instant before) {
    const bool is_there = place.second < count_of(place.first);
    for (auto record = records.at.begin(); record != records.at.end();) {
        const bool is_synced = synced_topics.contains(place.first) && record->second.is_acknowledged;
        if (is_there && (is_synced || record->second.told < before)) {
            ++record;
            continue;
        }
        records.where.erase(record->second.value);
        record = records.at.erase(record);
    }
}

void Ledger::forget_unsynced_counts(Instant before) {
    for (auto& [topic, counts] : counts_) {
        std::int32_t smaller = 0;
        const auto lost = std::ranges::find_if(counts, [&](const auto& count) {
            const bool is_synced = synced_counts_[topic] > std::exchange(smaller, count.first);
            return !is_synced && count.second >= before;
        });
        has_lost_growth_ = has_lost_growth_ || lost != counts.end();
        counts.erase(lost, counts.end());
    }
}

void Ledger::note_power_failure(Instant died) {
    ++power_failures_;
    const Instant before = died + -kUnsyncedMs;
    growth_may_be_under_way_ = false;
    forget_unsynced_counts(before);
    for (auto& [place, records] : records_) {
        forget_unsynced_records(place, records, before);
    }
    for (auto& [group, places] : committed_) {
        std::erase_if(places, [&](const auto& committed) { return committed.second.told >= before; });
    }
    owners_.clear();
    // Keeps only the growths' readers that still read the topic. Seeds are synced before the growth.
    for (Growth& growth : growths_) {
        std::erase_if(growth.readers, [&](const std::string& group) { return !reads(group, growth.topic); });
    }
}

}  // namespace partita::test
