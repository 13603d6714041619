#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "broker/assignors/assignment.h"
#include "protocol/types.h"

/// Server-side assignors of consumer groups (KIP-848): which member of a group shall read which partitions. Pure
/// functions of the group. The result is a goal; the coordinator leads the members towards it step by step.

namespace partita::assignors {

/// The group that partitions are assigned to. Everything is borrowed for the call.
struct GroupSpec {
    struct Topic {
        TopicId topic_id;
        std::int32_t partition_count = 0;
    };
    struct Member {
        /// The topics that the member subscribes to: indexes into `topics`, ascending, without repetition.
        std::span<const std::uint32_t> topics;
        /// The member's goal until now; null for none. The assignor ignores topics that are gone or no longer
        /// subscribed, and partitions beyond the count.
        const Assignment* previous = nullptr;
    };

    /// All topics that somebody is subscribed to, ascending by id.
    std::span<const Topic> topics;
    /// In the order in which the assignor serves members where the rules leave a choice. A partition in the previous
    /// goals of two members (the log may come from another program, with its own assignors) belonged to the first of
    /// them.
    std::span<const Member> members;
    /// All members have the same `topics`.
    bool is_homogeneous = true;
};

/// One assignment for each member, in the order of the members. Every partition of every topic is assigned to
/// exactly one member that is subscribed to it.
using GroupAssignment = std::vector<Assignment>;
using Assignor = GroupAssignment (*)(const GroupSpec& group);

/// Kafka's "uniform": a member has at most one partition more than any other member that could take one of them, and
/// each member keeps as much of its previous goal as that allows.
[[nodiscard]] GroupAssignment assign_uniformly(const GroupSpec& group);

/// Kafka's "range": of each topic every member gets an equal share of adjacent partitions, in the order of the members,
/// so that topics with equal counts are divided alike. Previous goals do not matter.
[[nodiscard]] GroupAssignment assign_ranges(const GroupSpec& group);

/// The assignor of this name ("uniform", "range"), or null.
[[nodiscard]] Assignor find_assignor(std::string_view name);

}  // namespace partita::assignors
