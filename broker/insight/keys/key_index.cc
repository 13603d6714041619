#include "broker/insight/keys/key_index.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "protocol/assert.h"

namespace partita::insight {
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
        // Equal hashes below every threshold must not make an endless loop: 64 halvings leave nothing.
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
            make_room(record.key_hash, placements);
        }
        placements.push_back({.partition = record.partition, .first_epoch = record.epoch, .first = record.offset});
        known = std::prev(placements.end());
    }
    if (record.epoch > 0 && before && before->partition != record.partition) {
        note_step(record.key_hash, {.from = before->partition,
                                    .to = record.partition,
                                    .earlier = before->last,
                                    .later = record.offset,
                                    .is_with_growth = before->first_epoch < known->first_epoch,
                                    .before_earlier = before->is_transactional ? before->before_last : kNoOffset,
                                    .is_open = record.transactional_batch != kNoOffset});
    } else if (placements.size() > 1) {
        note_again(record);
    }
    if (known->epoch < record.epoch && known->records > 0) {
        keep_past(record.key_hash, placements, *known);
    }
    if (known->records > 0 && (record.transactional_batch == kNoOffset || known->last < record.transactional_batch)) {
        known->before_last = known->last;
    }
    known->is_transactional = record.transactional_batch != kNoOffset;
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

void KeyIndex::note_again(const Record& record) {
    const auto known = steps_.find(record.key_hash);
    if (known == steps_.end()) {
        return;
    }
    KeyStep& step = known->second.back();
    if (!step.is_open || step.to != record.partition) {
        return;
    }
    const auto free = std::ranges::find(step.again, kNoOffset);
    const Offset newest = free == step.again.begin() ? step.later : *std::prev(free);
    const bool is_transactional = record.transactional_batch != kNoOffset;
    if (is_transactional && newest >= record.transactional_batch) {
        return;
    }
    *free = record.offset;
    step.is_open = is_transactional && std::next(free) != step.again.end();
}

void KeyIndex::keep_past(std::uint64_t key_hash, const std::vector<KeyPlacement>& placements, const KeyPlacement& losing) {
    const auto is_of_its_epoch = [&](const KeyPlacement& placement) { return placement.epoch == losing.epoch; };
    if (std::ranges::count_if(placements, is_of_its_epoch) < 2) {
        return;
    }
    std::vector<PastPlacement>& past = past_[key_hash];
    for (const KeyPlacement& placement : placements) {
        if (!is_of_its_epoch(placement)) {
            continue;
        }
        const auto known = std::ranges::find_if(past, [&](const PastPlacement& other) {
            return other.epoch == placement.epoch && other.partition == placement.partition;
        });
        if (known != past.end()) {
            known->last = placement.last;
            continue;
        }
        if (past.size() == kPastMax) {
            past.erase(past.begin());
            lost_past_ = true;
        }
        past.push_back({placement.epoch, placement.partition, placement.last});
    }
}

void KeyIndex::make_room(std::uint64_t key_hash, std::vector<KeyPlacement>& placements) {
    const auto oldest = std::ranges::min_element(placements, {}, &KeyPlacement::last_seen);
    // If two other placements of that epoch stay, they show the epoch themselves, until their logs begin behind them.
    if (std::ranges::count(placements, oldest->epoch, &KeyPlacement::epoch) > 2) {
        lost_past_ = true;
    } else {
        keep_past(key_hash, placements, *oldest);
    }
    placements.erase(oldest);
}

std::span<const PastPlacement> KeyIndex::past(std::uint64_t key_hash) const {
    const auto known = past_.find(key_hash);
    return known == past_.end() ? std::span<const PastPlacement>() : known->second;
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
    std::erase_if(past_, [&](const auto& entry) { return !is_sampled(entry.first); });
    std::erase_if(steps_, [&](const auto& entry) { return !is_sampled(entry.first); });
}

}  // namespace partita::insight
