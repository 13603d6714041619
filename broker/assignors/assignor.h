#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "broker/assignors/assignment.h"
#include "protocol/types.h"

/// Server-side assignors of consumer groups (KIP-848): who of a group shall read which partitions. Pure functions
/// of the group; what they return is a goal, towards which the members are led step by step.

namespace partita::assignors {

/// The group that partitions are assigned to. Everything is borrowed for the call.
struct GroupSpec {
    struct Topic {
        TopicId topic_id;
        std::int32_t partition_count = 0;
    };
    struct Member {
        /// What it is subscribed to: indexes into `topics`, ascending, without repetition.
        std::span<const std::uint32_t> topics;
        /// The goal it had until now; null is none. Topics that are gone or no longer subscribed and partitions
        /// that are beyond the count are taken away from it.
        const Assignment* previous = nullptr;
    };

    /// All topics that somebody is subscribed to, ascending by id.
    std::span<const Topic> topics;
    /// In the order in which they are served where the rules leave a choice. A partition that is in the previous goals of
    /// two members (the log may be another program's, with assignors of its own) was the first one's.
    std::span<const Member> members;
    /// All members have the same `topics`.
    bool is_homogeneous = true;
};

/// One assignment for each member, in the order of the members. Every partition of every topic is assigned to
/// exactly one member that is subscribed to it.
using GroupAssignment = std::vector<Assignment>;
using Assignor = GroupAssignment (*)(const GroupSpec& group);

/// Kafka's "uniform": no member has two partitions more than another that could take one of them, and each
/// keeps as much of its previous goal as that allows.
[[nodiscard]] GroupAssignment assign_uniformly(const GroupSpec& group);

/// Kafka's "range": of each topic for itself every member gets an equal share of adjacent partitions in the order of
/// the members, so that topics with equal counts are divided alike. What somebody had before does not matter.
[[nodiscard]] GroupAssignment assign_ranges(const GroupSpec& group);

/// The assignor of this name ("uniform", "range"), or null.
[[nodiscard]] Assignor find_assignor(std::string_view name);

}  // namespace partita::assignors
