#pragma once

#include <cstdint>
#include <optional>

namespace partita::expansion {

struct GroupFacts;

/// How many old partitions of the topic get another owner when the group's assignor places `new_count` partitions instead of
/// `old_count` among the members that it has, as Kafka's own assignors do: `range` cuts larger blocks in the same order of
/// members, the sticky ones leave everything where it is, and so does `roundrobin` for a group of one topic.
///
/// Null when that cannot be foretold: another assignor (Streams, one of KIP-848's), a rebalance that is under way, or an
/// assignment that is not the assignor's own.
[[nodiscard]] std::optional<std::int64_t> old_partitions_with_new_owners(const GroupFacts& group, std::int32_t old_count,
                                                                         std::int32_t new_count);

}  // namespace partita::expansion
