#pragma once

#include <cstdint>
#include <optional>

namespace partita::insight {

struct GroupFacts;

/// How many old partitions of the topic get another owner if the group's assignor distributes `new_count` partitions instead of
/// `old_count` among the present members. It predicts Kafka's own assignors: `range` cuts larger blocks in the same order of
/// members. The sticky assignors leave every old partition where it is, and so does `roundrobin` for a group of one topic.
///
/// Null if it cannot be predicted: for another assignor (Streams, one of KIP-848's), during a rebalance, or if the present
/// assignment is not the one that the assignor would make.
[[nodiscard]] std::optional<std::int64_t> old_partitions_with_new_owners(const GroupFacts& group, std::int32_t old_count,
                                                                         std::int32_t new_count);

}  // namespace partita::insight
