#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "broker/assignors/assignment.h"
#include "protocol/types.h"

/// Server-side assignors of consumer groups (KIP-848), which decide which member of a group reads which partitions. They are pure
/// functions of the group. The result is a goal; the coordinator leads the members towards it step by step.

namespace partita::assignors {

/// The group to which partitions are assigned. Everything is borrowed for the call.
struct GroupSpec {
    struct Topic {
        TopicId topic_id;
        std::int32_t partition_count = 0;
    };
    struct Member {
        /// The topics to which the member subscribes: indices into `topics`, ascending, without repetition.
        std::span<const std::uint32_t> topics;
        /// The member's goal until now; null for none. The assignor ignores topics that are gone or no longer
        /// subscribed, and partitions beyond the count.
        const Assignment* previous = nullptr;
    };

    /// All topics with at least one subscriber, ascending by id.
    std::span<const Topic> topics;
    /// In the order in which the assignor serves members if the rules leave a choice. A partition may be in the previous goals of
    /// two members, because the log may come from another program with its own assignors. It then belonged to the first of them.
    std::span<const Member> members;
    /// All members have the same `topics`.
    bool is_homogeneous = true;
};

/// One assignment for each member, in the order of the members. Every partition of every topic is assigned to
/// exactly one member that is subscribed to it.
using GroupAssignment = std::vector<Assignment>;
using Assignor = GroupAssignment (*)(const GroupSpec& group);

/// Kafka's "uniform": a member has at most one partition more than any other member that could take over one of its partitions.
/// Each member keeps as much of its previous goal as that allows.
[[nodiscard]] GroupAssignment assign_uniformly(const GroupSpec& group);

/// Kafka's "range": every member gets an equal share of adjacent partitions of each topic, in the order of the members. So topics
/// with equal counts are divided alike. Previous goals do not matter.
[[nodiscard]] GroupAssignment assign_ranges(const GroupSpec& group);

/// The assignor of this name ("uniform", "range"), or null.
[[nodiscard]] Assignor find_assignor(std::string_view name);

}  // namespace partita::assignors
