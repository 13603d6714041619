#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "protocol/types.h"

namespace partita::assignors {

/// Partitions of one topic, ascending, without repetition.
struct TopicPartitions {
    TopicId topic_id;
    std::vector<std::int32_t> partitions;

    friend auto operator<=>(const TopicPartitions&, const TopicPartitions&) = default;
};

/// The partitions that one member has or should have: ascending by topic id, no topic twice, no topic without partitions.
using Assignment = std::vector<TopicPartitions>;

/// Sorts topics and partitions, which may be in any order, into the order of an Assignment.
[[nodiscard]] Assignment normalized(Assignment assignment);

[[nodiscard]] std::size_t partition_count(const Assignment& assignment);
/// Null if the assignment has no partition of the topic.
[[nodiscard]] const TopicPartitions* find_topic(const Assignment& assignment, const TopicId& topic_id);

}  // namespace partita::assignors
