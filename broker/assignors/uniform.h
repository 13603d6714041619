#pragma once

#include "broker/assignors/assignor.h"

/// Private to this room: the two cases of the uniform assignor.

namespace partita::assignors {

/// All members have the same subscription. Time is linear in members and partitions.
[[nodiscard]] GroupAssignment assign_uniformly_to_equals(const GroupSpec& group);

/// The members have different subscriptions.
[[nodiscard]] GroupAssignment assign_uniformly_to_individuals(const GroupSpec& group);

/// Calls `visit(std::uint32_t topic, std::span<const std::int32_t> partitions)` for each topic of `previous` that still exists,
/// ascending. `topic` is its index in `group.topics`; `partitions` are those that still exist.
template <class Visit>
void for_each_existing(const GroupSpec& group, const Assignment& previous, Visit&& visit) {
    std::uint32_t topic = 0;
    for (const TopicPartitions& held : previous) {
        while (topic < group.topics.size() && group.topics[topic].topic_id < held.topic_id) {
            ++topic;
        }
        if (topic == group.topics.size()) {
            return;
        }
        if (group.topics[topic].topic_id != held.topic_id) {
            continue;
        }
        std::size_t count = held.partitions.size();
        while (count > 0 && held.partitions[count - 1] >= group.topics[topic].partition_count) {
            --count;
        }
        std::size_t first = 0;
        while (first < count && held.partitions[first] < 0) {
            ++first;
        }
        visit(topic, std::span(held.partitions).subspan(first, count - first));
    }
}

}  // namespace partita::assignors
