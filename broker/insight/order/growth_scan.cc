#include "broker/insight/order/growth_scan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "broker/partitioners/families.h"
#include "protocol/assert.h"

namespace partita::insight {
namespace {

bool ignores_keys(PlacementKind kind) { return kind == PlacementKind::no_keys || kind == PlacementKind::keys_ignored; }

}  // namespace

GrowthScan::GrowthScan(std::span<const GrowthCut> growths, std::vector<Offset> from, partitioners::FamilySet families,
                       std::size_t keys_max)
    : growths_(growths.begin(), growths.end()),
      from_(std::move(from)),
      keys_max_(keys_max),
      known_families_(families),
      cuts_(keys_max) {
    PARTITA_ASSERT(!growths_.empty(), "a scan is of a growth");
    const GrowthCut& growth = growths_.back();
    from_.resize(static_cast<std::size_t>(growth.old_count), Offset{0});
    next_after_.resize(static_cast<std::size_t>(growth.new_count), Offset{0});
    for (std::int32_t index = 0; index < growth.old_count; ++index) {
        next_after_[static_cast<std::size_t>(index)] = growth.end_of({index});
    }
    begin();
}

void GrowthScan::begin() {
    const GrowthCut& growth = growths_.back();
    cuts_ = KeyCuts(keys_max_);
    next_before_ = from_;
    moved_.clear();
    if (!has_evidence_) {
        keys_ = KeyTable(kEvidenceLimits);
        keyed_records_ = 0;
    }
    const std::int64_t offsets_max = std::min(MovedRecords::kOffsetsMax, kMovedOffsetsMax / growth.old_count);
    for (std::int32_t index = 0; family_ && index < growth.old_count; ++index) {
        moved_.emplace_back(from_[static_cast<std::size_t>(index)], growth.end_of({index}), offsets_max);
    }
}

Offset GrowthScan::from(PartitionIndex partition) const {
    const auto index = static_cast<std::size_t>(partition.value);
    return index < from_.size() ? from_[index] : Offset{0};
}

std::int32_t GrowthScan::epoch_of(PartitionIndex partition, Offset offset) const {
    std::int32_t epoch = 0;
    for (const GrowthCut& growth : growths_) {
        epoch += growth.is_before(partition, offset) ? 0 : 1;
    }
    return epoch;
}

void GrowthScan::add_before(PartitionIndex partition, Offset offset, Bytes key) {
    if (key.empty()) {
        return;
    }
    const std::uint64_t hash = KeyTable::hash_of(key);
    const std::int32_t epoch = epoch_of(partition, offset);
    if (!has_evidence_) {
        // A key that is not kept is no evidence.
        (void)keys_.add(key, hash, partition, epoch, key.size(), false);
    }
    cuts_.add_before(partition, offset, hash, explained_epoch(partition, key, epoch));
    // Between a judgement and the new beginning there is no room for them.
    if (family_ && !restarts_ && partitioners::partition_of(*family_, key, growths_.back().new_count) != partition) {
        moved_[static_cast<std::size_t>(partition.value)].add(offset);
    }
    if (++keyed_records_ >= next_judgement_ && !has_evidence_) {
        next_judgement_ *= 2;
        judge();
    }
}

std::int32_t GrowthScan::explained_epoch(PartitionIndex partition, Bytes key, std::int32_t written) const {
    if (!family_) {
        return written;
    }
    for (std::size_t index = growths_.size(); index-- > 0;) {
        if (partitioners::partition_of(*family_, key, growths_[index].old_count) == partition) {
            return static_cast<std::int32_t>(index);
        }
    }
    return KeyCuts::kUnexplained;
}

void GrowthScan::judge() {
    std::vector<std::int32_t> counts;
    counts.reserve(growths_.size());
    for (const GrowthCut& growth : growths_) {
        counts.push_back(growth.old_count);
    }
    evidence_ = judge_placements(keys_, counts);
    is_judged_ = true;
    std::optional<partitioners::Family> family = evidence_.has_family() ? evidence_.family : family_by_any_count(counts);
    // A few records, or those of one partition, do not tell.
    if (!family && evidence_.kind != PlacementKind::mixed && !known_families_.is_empty()) {
        family = known_families_.first();
    }
    if (family == family_) {
        return;
    }
    family_ = family;
    restarts_ = true;
}

std::optional<partitioners::Family> GrowthScan::family_by_any_count(std::span<const std::int32_t> counts) const {
    std::array<std::int64_t, partitioners::kFamilyCount> explained{};
    std::int64_t placements = 0;
    for (const KeyEntry& entry : keys_.entries()) {
        keys_.for_each_placement(entry, [&](const Placement& placement) {
            partitioners::FamilySet families;
            for (std::int32_t epoch = 0; epoch <= placement.epoch; ++epoch) {
                const std::int32_t count = counts[static_cast<std::size_t>(epoch)];
                families = families | partitioners::families_that_agree(as_bytes(entry.key), placement.partition, count);
            }
            ++placements;
            families.for_each([&](partitioners::Family family) { ++explained[static_cast<std::size_t>(family)]; });
        });
    }
    const auto best = std::ranges::max_element(explained);
    const bool is_enough =
        placements >= kEvidenceKeysMin && static_cast<double>(*best) >= kEvidenceShareMin * static_cast<double>(placements);
    // With few partitions and several counts, chance explains much.
    if (!is_enough || counts.front() < 2) {
        return std::nullopt;
    }
    return static_cast<partitioners::Family>(best - explained.begin());
}

bool GrowthScan::read_before(KeyedRecords& records) {
    while (!has_read_before_) {
        for (std::size_t index = 0; index < next_before_.size() && !restarts_; ++index) {
            const PartitionIndex partition{static_cast<std::int32_t>(index)};
            const Offset end = growths_.back().end_of(partition);
            Offset& next = next_before_[index];
            if (next >= end) {
                continue;
            }
            if (!records.has_budget()) {
                return false;
            }
            next = records.read(partition, next, end,
                                [&](Offset offset, Bytes key, TimestampMs) { add_before(partition, offset, key); });
            is_complete_ = is_complete_ && records.is_complete();
            if (next < end && !restarts_) {
                return false;
            }
        }
        if (!restarts_ && !has_evidence_) {
            judge();
            has_evidence_ = true;
        }
        has_read_before_ = !restarts_;
        if (std::exchange(restarts_, false)) {
            begin();
        }
    }
    return true;
}

bool GrowthScan::read_after(KeyedRecords& records, PartitionIndex partition, Offset to) {
    PARTITA_ASSERT(has_read_before_, "records from before the growth come first");
    const auto index = static_cast<std::size_t>(partition.value);
    if (index >= next_after_.size()) {
        next_after_.resize(index + 1, Offset{0});
    }
    Offset& next = next_after_[index];
    if (next >= to || !do_keys_count()) {
        return true;
    }
    if (!records.has_budget()) {
        return false;
    }
    next = records.read(partition, next, to, [&](Offset offset, Bytes key, TimestampMs) {
        if (!key.empty()) {
            cuts_.add_after(partition, offset, KeyTable::hash_of(key));
            note_if_late(partition, key);
        }
    });
    is_complete_ = is_complete_ && records.is_complete();
    return next >= to;
}

void GrowthScan::note_if_late(PartitionIndex partition, Bytes key) {
    const bool may_be_late = !has_late_ && family_ && partition.value < growths_.back().old_count;
    if (!may_be_late || partitioners::partition_of(*family_, key, growths_.back().new_count) == partition) {
        return;
    }
    has_late_ = explained_epoch(partition, key, 0) != KeyCuts::kUnexplained;
}

bool GrowthScan::do_keys_count() const { return keyed_records_ > 0 && !(is_judged_ && !family_ && ignores_keys(evidence_.kind)); }

std::optional<std::int64_t> GrowthScan::moved_from(PartitionIndex partition, Offset offset) const {
    if (!has_read_before_ || !family_) {
        return std::nullopt;
    }
    const auto index = static_cast<std::size_t>(partition.value);
    return index < moved_.size() ? moved_[index].count_from(offset) : 0;
}

bool GrowthScan::has_all_moved() const { return is_complete_ && std::ranges::all_of(moved_, &MovedRecords::has_all); }

}  // namespace partita::insight
