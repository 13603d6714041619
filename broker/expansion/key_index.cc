#include "broker/expansion/key_index.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "protocol/assert.h"

namespace partita::expansion {
void KeyIndex::add(const Record& record) {
    ++records_;
    bytes_ += static_cast<std::int64_t>(record.size_bytes);
    heavy_.add(record.key_hash, as_text(record.key), static_cast<std::int64_t>(record.size_bytes));
    if (record.key.size() > kKeyBytesMax) {
        ++long_keys_;
        return;
    }
    if (!is_sampled(record.key_hash)) {
        return;
    }
    auto place = keys_.find(record.key_hash);
    if (place == keys_.end()) {
        // Equal hashes below any threshold are no reason to loop for ever: 64 halvings leave nothing.
        while (keys_.size() >= keys_max_) {
            halve();
        }
        if (!is_sampled(record.key_hash)) {
            return;
        }
        place = keys_.emplace(record.key_hash, IndexedKey{.key = std::string(as_text(record.key))}).first;
    }
    std::vector<KeyPlacement>& placements = place->second.placements;
    const auto newest = std::ranges::max_element(placements, {}, &KeyPlacement::last_seen);
    const std::optional<KeyPlacement> before = newest == placements.end() ? std::nullopt : std::optional(*newest);
    auto known = std::ranges::find(placements, record.partition, &KeyPlacement::partition);
    if (known == placements.end()) {
        if (placements.size() == kPlacementsMax) {
            placements.erase(std::ranges::min_element(placements, {}, &KeyPlacement::last_seen));
        }
        placements.push_back({.partition = record.partition, .first_epoch = record.epoch, .first = record.offset});
        known = std::prev(placements.end());
    }
    if (record.epoch > 0 && before && before->partition != record.partition) {
        note_step(record.key_hash, {.from = before->partition,
                                    .to = record.partition,
                                    .earlier = before->last,
                                    .later = record.offset,
                                    .is_with_growth = before->first_epoch < known->first_epoch});
    }
    known->epoch = record.epoch;
    known->last = record.offset;
    known->last_seen = records_;
    known->is_tombstone = record.is_tombstone;
    ++known->records;
}

void KeyIndex::note_step(std::uint64_t key_hash, const KeyStep& step) {
    std::vector<KeyStep>& steps = steps_[key_hash];
    const auto is_same_way = [&](const KeyStep& other) { return other.from == step.from && other.to == step.to; };
    if (std::ranges::count_if(steps, is_same_way) == 2) {
        steps.erase(std::prev(std::ranges::find_if(steps.rbegin(), steps.rend(), is_same_way).base()));
    } else if (steps.size() == kStepsMax) {
        steps.erase(steps.begin());
    }
    steps.push_back(step);
}

const IndexedKey* KeyIndex::find(std::uint64_t key_hash) const {
    const auto place = keys_.find(key_hash);
    return place == keys_.end() ? nullptr : &place->second;
}

std::vector<std::int64_t> KeyIndex::distinct_keys_by_partition(std::int32_t partition_count) const {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(partition_count), 0);
    for (const auto& [hash, key] : keys_) {
        for (const KeyPlacement& placement : key.placements) {
            if (placement.partition.value < partition_count) {
                counts[static_cast<std::size_t>(placement.partition.value)] += sampling();
            }
        }
    }
    return counts;
}

void KeyIndex::halve() {
    PARTITA_ASSERT(halvings_ < 63, "hashes of distinct keys are spread");
    ++halvings_;
    std::erase_if(keys_, [&](const auto& entry) { return !is_sampled(entry.first); });
    std::erase_if(steps_, [&](const auto& entry) { return !is_sampled(entry.first); });
}

}  // namespace partita::expansion
