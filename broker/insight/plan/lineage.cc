#include "broker/insight/plan/lineage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "protocol/assert.h"

namespace partita::insight {
namespace {

Share reduced(std::int64_t numerator, std::int64_t denominator) {
    const std::int64_t divisor = std::gcd(numerator, denominator);
    return {numerator / divisor, denominator / divisor};
}

/// All of 0 .. count - 1 that equal `residue` modulo `step`.
std::vector<PartitionIndex> residue_class(std::int32_t residue, std::int32_t step, std::int32_t count) {
    std::vector<PartitionIndex> partitions;
    partitions.reserve(static_cast<std::size_t>(count / step));
    for (std::int64_t partition = residue; partition < count; partition += step) {
        partitions.push_back(PartitionIndex{static_cast<std::int32_t>(partition)});
    }
    return partitions;
}

}  // namespace

std::string to_percent(const Share& share) {
    std::int64_t tenths = std::llround(share.value() * 1000.0);
    if (tenths == 0 && share.numerator > 0) {
        tenths = 1;
    }
    if (tenths == 1000 && share.numerator < share.denominator) {
        tenths = 999;
    }
    std::string text = std::to_string(tenths / 10);
    if (tenths % 10 != 0) {
        text += "." + std::to_string(tenths % 10);
    }
    return text + " %";
}

Lineage::Lineage(std::int32_t old_count, std::int32_t new_count)
    : old_count_(old_count), new_count_(new_count), common_divisor_(std::gcd(old_count, new_count)) {
    PARTITA_ASSERT(old_count >= 1 && new_count > old_count, "an expansion makes a topic larger");
}

Share Lineage::stay_share() const { return reduced(common_divisor_, new_count_); }
Share Lineage::moved_share() const { return reduced(new_count_ - common_divisor_, new_count_); }
Share Lineage::old_to_new_share() const { return reduced(new_count_ - old_count_, new_count_); }
Share Lineage::old_to_old_share() const { return reduced(old_count_ - common_divisor_, new_count_); }

std::vector<PartitionIndex> Lineage::parents(PartitionIndex partition) const {
    PARTITA_ASSERT(partition.value >= 0 && partition.value < new_count_, "a partition after the expansion");
    return residue_class(partition.value % common_divisor_, common_divisor_, old_count_);
}

std::vector<PartitionIndex> Lineage::children(PartitionIndex partition) const {
    PARTITA_ASSERT(partition.value >= 0 && partition.value < old_count_, "a partition before the expansion");
    return residue_class(partition.value % common_divisor_, common_divisor_, new_count_);
}

std::vector<std::int32_t> better_targets(std::int32_t old_count, std::int32_t new_count) {
    std::vector<std::int32_t> targets;
    if (Lineage(old_count, new_count).is_multiple()) {
        return targets;
    }
    const std::int64_t below = static_cast<std::int64_t>(new_count / old_count) * old_count;
    if (below > old_count) {
        targets.push_back(static_cast<std::int32_t>(below));
    }
    if (below + old_count <= std::numeric_limits<std::int32_t>::max()) {
        targets.push_back(static_cast<std::int32_t>(below + old_count));
    }
    return targets;
}

std::optional<std::int32_t> nearest_better_target(std::int32_t old_count, std::int32_t new_count) {
    const std::vector<std::int32_t> targets = better_targets(old_count, new_count);
    if (targets.empty()) {
        return std::nullopt;
    }
    // The list is ascending, so the last one is the greater.
    const std::int64_t to_last = static_cast<std::int64_t>(targets.back()) - new_count;
    const std::int64_t to_first = static_cast<std::int64_t>(new_count) - targets.front();
    return targets.size() == 2 && to_first < to_last ? targets.front() : targets.back();
}

std::string expansion_warning(std::string_view topic, std::int32_t old_count, std::int32_t new_count,
                              std::span<const UnreadAtGrowth> unread) {
    const Lineage lineage(old_count, new_count);
    std::string text = "topic " + std::string(topic) + " grew from " + std::to_string(old_count) + " to " +
                       std::to_string(new_count) + " partitions: " + to_percent(lineage.moved_share()) +
                       " of its keys change partition, and the order of records of such a key is no longer kept";
    if (const auto target = nearest_better_target(old_count, new_count)) {
        text += " (" + to_percent(lineage.old_to_old_share()) + " only move between old partitions: a multiple of " +
                std::to_string(old_count) + ", such as " + std::to_string(*target) + ", would have spared them)";
    }
    if (!unread.empty()) {
        const UnreadAtGrowth& most = *std::ranges::max_element(unread, {}, &UnreadAtGrowth::offsets);
        const std::size_t others = unread.size() - 1;
        text += "; open now (H03): group " + most.group + " has " + std::to_string(most.offsets) +
                " offsets from before it to read" +
                (others == 0   ? ""
                 : others == 1 ? ", and 1 more group has some"
                               : ", and " + std::to_string(others) + " more groups have some") +
                "; let each read the old partitions before the new ones";
    }
    return text + "; see " + std::string(kExpansionGuide);
}

}  // namespace partita::insight
