#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/groups/topic_readers.h"
#include "broker/logs/topic_table.h"
#include "protocol/types.h"

namespace partita::runtime {

class GroupShards;

/// How far a group has read one partition.
struct PartitionLag {
    PartitionIndex partition;
    /// Unset if the group never committed there, or its offset expired.
    std::optional<Offset> committed;
    Offset log_end;
    /// The number of offsets that the group has yet to read. It counts from the commit, or from the log's start if the commit
    /// lies before that. Unset without a commit, because the group's starting position is unknown.
    std::optional<std::int64_t> lag;

    friend bool operator==(const PartitionLag&, const PartitionLag&) = default;
};

/// How far a group has read a topic.
struct GroupLag {
    std::string group_id;
    /// Members that subscribe to the topic or hold a partition of it; 0 for a group that only stores offsets.
    std::size_t members = 0;
    /// All partitions of the topic, by index.
    std::vector<PartitionLag> partitions;

    /// The sum over the partitions with a commit.
    [[nodiscard]] std::int64_t total() const;
};
[[nodiscard]] GroupLag group_lag(const logs::TopicState& topic, const groups::TopicReader& reader);
/// The lags of all groups that read the topic, ascending by id. Takes the locks of the group shards one by one, so the caller
/// must not hold one.
[[nodiscard]] std::vector<GroupLag> group_lags(GroupShards& groups, const logs::TopicState& topic);

}  // namespace partita::runtime
