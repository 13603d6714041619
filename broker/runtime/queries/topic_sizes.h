#pragma once

#include <cstdint>
#include <vector>

#include "broker/logs/log_bounds.h"
#include "broker/logs/topic_table.h"
#include "protocol/types.h"

namespace partita::runtime {

/// The bounds and the size of one partition.
struct PartitionSize {
    PartitionIndex partition;
    logs::LogBounds bounds;
    /// The size of its log files, without indexes.
    std::uint64_t bytes = 0;

    friend bool operator==(const PartitionSize&, const PartitionSize&) = default;
};
[[nodiscard]] PartitionSize partition_size(PartitionIndex index, const logs::Partition& partition);

struct TopicSize {
    /// The topic; never null.
    catalog::TopicPointer topic;
    /// Ascending by index.
    std::vector<PartitionSize> partitions;

    [[nodiscard]] std::uint64_t bytes() const;
    /// The number of offsets between starts and ends. It equals the number of records, unless the topic is compacted or has
    /// transactions.
    [[nodiscard]] std::int64_t offsets() const;
    /// The sum of all partitions' ends. It grows with every record and never falls, so two samples give a rate.
    [[nodiscard]] std::int64_t written() const;
};
[[nodiscard]] TopicSize topic_size(const logs::TopicState& topic);
/// The sizes of all topics, ascending by name. Takes the lock of each log for a moment, so the time grows with the number of
/// partitions.
[[nodiscard]] std::vector<TopicSize> topic_sizes(const logs::TopicTable& table);

}  // namespace partita::runtime
