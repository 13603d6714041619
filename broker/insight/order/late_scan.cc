#include "broker/insight/order/late_scan.h"

#include <algorithm>
#include <utility>

#include "broker/insight/keys/key_table.h"
#include "protocol/assert.h"

namespace partita::insight {

LateScan::LateScan(std::span<const GrowthCut> growths, TimestampMs grown, std::vector<Offset> ends,
                   partitioners::FamilySet families, Limits limits)
    : growths_(growths.begin(), growths.end()), grown_(grown), ends_(std::move(ends)), families_(families), limits_(limits) {
    PARTITA_ASSERT(!growths_.empty(), "late records come after a growth");
}

Offset LateScan::end_of(PartitionIndex partition) const {
    const auto index = static_cast<std::size_t>(partition.value);
    if (ends_.empty()) {
        return Offset{INT64_MAX};
    }
    // A partition that the next growth added has nothing from before it.
    return index < ends_.size() ? ends_[index] : Offset{0};
}

bool LateScan::read(KeyedRecords& records, PartitionIndex partition, Offset to, TimestampMs now, const KeyCuts* homes) {
    PARTITA_ASSERT(homes != nullptr || !families_.is_empty(), "something tells which records are late");
    const auto index = static_cast<std::size_t>(partition.value);
    while (next_.size() <= index) {
        next_.push_back(begin_of({static_cast<std::int32_t>(next_.size())}));
        newest_.push_back(grown_);
    }
    Offset& next = next_[index];
    to = std::min(to, end_of(partition));
    if (next >= to) {
        return true;
    }
    if (!records.has_budget()) {
        return false;
    }
    next = records.read(partition, next, to, [&](Offset offset, Bytes key, TimestampMs time) {
        // Clients place records with an empty key by rules of their own.
        if (const Placed by = key.empty() ? Placed::unexplained : placed(partition, key, homes); by != Placed::unexplained) {
            add(partition, offset, key, time, now, by);
        }
    });
    is_exact_ = is_exact_ && records.is_complete();
    return next >= to;
}

LateScan::Placed LateScan::placed(PartitionIndex partition, Bytes key, const KeyCuts* homes) const {
    if (families_.is_empty()) {
        switch (homes->home(partition, KeyTable::hash_of(key))) {
            case KeyCuts::Home::unknown:
                return Placed::unexplained;
            case KeyCuts::Home::here:
                return Placed::late;
            case KeyCuts::Home::elsewhere:
                return Placed::new_count;
        }
    }
    if (!partitioners::families_that_agree(key, partition, growths_.back().new_count, families_).is_empty()) {
        return Placed::new_count;
    }
    const bool is_late = std::ranges::any_of(growths_, [&](const GrowthCut& growth) {
        return !partitioners::families_that_agree(key, partition, growth.old_count, families_).is_empty();
    });
    return is_late ? Placed::late : Placed::unexplained;
}

void LateScan::add(PartitionIndex partition, Offset offset, Bytes key, TimestampMs time, TimestampMs now, Placed by) {
    const bool is_late = by == Placed::late;
    TimestampMs& newest = newest_[static_cast<std::size_t>(partition.value)];
    if (time == kNoTimestamp || time.value < newest.value - kOnTheWayMs || time > now) {
        is_exact_ = false;
        return;
    }
    newest = std::max(newest, time);
    const std::uint64_t hash = KeyTable::hash_of(key);
    auto known = keys_.find(hash);
    if (known == keys_.end()) {
        if (keys_.size() >= limits_.keys_max) {
            is_full_ = true;
        }
        // Another record of this key may have been left out.
        is_exact_ = is_exact_ && !(is_full_ && is_late);
        if (keys_.size() >= limits_.keys_max) {
            return;
        }
        known = keys_.try_emplace(hash).first;
    }
    Key& entry = known->second;
    entry.has_late = entry.has_late || is_late;
    if (is_late) {
        last_late_ = std::max(last_late_, time);
        note_late_end(partition, Offset{offset.value + 1});
    }
    auto place = std::ranges::find(entry.places, partition, &Place::partition);
    if (place == entry.places.end()) {
        place = entry.places.insert(place, {.partition = partition, .is_late = is_late});
    }
    const std::size_t records_max = entry.has_late && records_ < limits_.records_max ? kRecordsMax : kFewRecordsMax;
    std::vector<Record>& kept = place->records;
    if (kept.size() < records_max) {
        kept.push_back({offset, time});
        ++records_;
    } else {
        if (kept.back().time < time) {
            kept[kept.size() - 2] = kept.back();
        }
        kept.back() = {offset, time};
        place->has_gap = true;
    }
    if (!std::exchange(entry.is_dirty, true)) {
        dirty_.push_back(hash);
    }
}

void LateScan::note_late_end(PartitionIndex partition, Offset end) {
    const auto index = static_cast<std::size_t>(partition.value);
    if (late_ends_.size() <= index) {
        late_ends_.resize(index + 1, Offset{0});
    }
    late_ends_[index] = std::max(late_ends_[index], end);
}

void LateScan::join() {
    for (const std::uint64_t hash : std::exchange(dirty_, {})) {
        Key& key = keys_.at(hash);
        key.is_dirty = false;
        if (key.has_late) {
            join(hash, key);
        }
    }
}

void LateScan::join(std::uint64_t hash, Key& key) {
    for (const Place& from : key.places) {
        for (const Record& record : from.records) {
            if (record.time <= last_late_) {
                note_late_end(from.partition, Offset{record.offset.value + 1});
            }
        }
        for (const Place& to : key.places) {
            if (from.partition != to.partition && (from.is_late || to.is_late)) {
                join(hash, key, from, to);
            }
        }
    }
}

bool LateScan::may_miss(const Place& from, const Place& to) {
    if (!from.has_gap && !to.has_gap) {
        return false;
    }
    const auto [first_from, last_from] = std::ranges::minmax(from.records, {}, &Record::time);
    const auto [first_to, last_to] = std::ranges::minmax(to.records, {}, &Record::time);
    if (last_to.time <= first_from.time) {
        return false;
    }
    // The writers took turns.
    if (last_from.time > first_to.time) {
        return true;
    }
    // The last record of `from` may be as old as the first ones of `to`: it comes before the first newer one.
    const auto newer = std::ranges::find_if(to.records, [&](const Record& record) { return record.time > last_from.time; });
    return to.has_gap && newer >= to.records.end() - 2;
}

void LateScan::join(std::uint64_t hash, Key& key, const Place& from, const Place& to) {
    is_exact_ = is_exact_ && !may_miss(from, to);
    // A reader gets the last of the older records last. Those that are older than another record in front of `later` have a cut
    // to that one.
    const Record* before = nullptr;
    for (const Record& later : to.records) {
        const Record* earlier = nullptr;
        for (const Record& record : from.records) {
            if (record.time < later.time && (before == nullptr || record.time >= before->time)) {
                earlier = &record;
            }
        }
        if (before == nullptr || later.time > before->time) {
            before = &later;
        }
        if (earlier == nullptr) {
            continue;
        }
        const KeyCut cut{
            .key_hash = hash, .from = from.partition, .to = to.partition, .earlier = earlier->offset, .later = later.offset};
        if (std::ranges::find(key.cuts, cut) != key.cuts.end()) {
            continue;
        }
        if (key.cuts.size() == kCutsOfKeyMax || !table_.add(cut)) {
            is_exact_ = false;
            return;
        }
        key.cuts.push_back(cut);
    }
}

}  // namespace partita::insight
