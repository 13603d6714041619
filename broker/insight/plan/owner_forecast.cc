#include "broker/insight/plan/owner_forecast.h"

#include <algorithm>
#include <vector>

#include "broker/insight/plan/plan.h"

namespace partita::insight {
namespace {

/// The member that owns `partition` if `count` partitions are dealt in blocks to `members` members; the first blocks have one
/// more.
std::int32_t owner_by_range(std::int32_t partition, std::int32_t count, std::int32_t members) {
    const std::int32_t least = count / members;
    const std::int32_t larger = count % members;
    const std::int32_t in_larger = larger * (least + 1);
    return partition < in_larger ? partition / (least + 1) : larger + (partition - in_larger) / least;
}

/// The owning member by old partition; empty unless each partition has exactly one owner.
std::vector<std::int32_t> owners(const GroupFacts& group, std::int32_t old_count) {
    std::vector<std::int32_t> owner(static_cast<std::size_t>(old_count), -1);
    std::size_t held = 0;
    for (std::size_t member = 0; member < group.members.size(); ++member) {
        for (const PartitionIndex partition : group.members[member].assigned) {
            if (partition.value >= old_count || owner[static_cast<std::size_t>(partition.value)] >= 0) {
                return {};
            }
            owner[static_cast<std::size_t>(partition.value)] = static_cast<std::int32_t>(member);
            ++held;
        }
    }
    return held == owner.size() ? owner : std::vector<std::int32_t>();
}

std::optional<std::int64_t> moves_by_range(const std::vector<std::int32_t>& owner, std::int32_t members, std::int32_t new_count) {
    const auto old_count = static_cast<std::int32_t>(owner.size());
    // Members in the assignor's order, which is the order of their blocks.
    std::vector<std::int32_t> order;
    std::int64_t moves = 0;
    for (std::int32_t partition = 0; partition < old_count; ++partition) {
        const std::int32_t now = owner_by_range(partition, old_count, members);
        if (now == static_cast<std::int32_t>(order.size())) {
            order.push_back(owner[static_cast<std::size_t>(partition)]);
        }
        if (order[static_cast<std::size_t>(now)] != owner[static_cast<std::size_t>(partition)]) {
            return std::nullopt;
        }
        if (owner_by_range(partition, new_count, members) != now) {
            ++moves;
        }
    }
    return moves;
}

}  // namespace

std::optional<std::int64_t> old_partitions_with_new_owners(const GroupFacts& group, std::int32_t old_count,
                                                           std::int32_t new_count) {
    const std::vector<std::int32_t> owner = owners(group, old_count);
    if (owner.empty()) {
        return std::nullopt;
    }
    if (group.protocol == "range") {
        return moves_by_range(owner, static_cast<std::int32_t>(group.members.size()), new_count);
    }
    const bool stays = group.protocol == "sticky" || group.protocol == "cooperative-sticky" ||
                       (group.protocol == "roundrobin" && group.other_topics.empty() && !group.reads_others);
    return stays ? std::optional<std::int64_t>(0) : std::nullopt;
}

}  // namespace partita::insight
