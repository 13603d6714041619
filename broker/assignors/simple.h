#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "broker/assignors/assignment.h"

namespace partita::assignors {

/// A share group to which partitions are assigned. Everything is borrowed for the call.
struct ShareGroupSpec {
    struct Member {
        /// The topics to which the member subscribes, ascending.
        std::vector<TopicId> topics;
        /// The member's goal until now; null for none.
        const Assignment* previous = nullptr;
    };

    /// The partitions that may be assigned, of all topics with a subscriber.
    const Assignment& assignable;
    std::span<const Member> members;
};

/// Kafka's "simple" assignor of share groups: a partition may have several members. If there are at least as many partitions as
/// members, each partition has one; otherwise each has about the same number of members. Each member keeps as much of its
/// previous goal as that allows. One assignment for each member, in their order.
[[nodiscard]] std::vector<Assignment> assign_simply(const ShareGroupSpec& group);

}  // namespace partita::assignors
