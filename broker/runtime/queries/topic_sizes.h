#pragma once

#include <cstdint>
#include <vector>

#include "broker/logs/topic_table.h"
#include "protocol/types.h"

namespace partita::runtime {

/// Where a log begins and ends. It goes on while it is asked, but the numbers are consistent with each other:
/// `start <= stable_end <= end`.
struct LogBounds {
    Offset start;
    /// Where the first open transaction begins; the end where there is none.
    Offset stable_end;
    Offset end;

    [[nodiscard]] bool has_open_transaction() const { return stable_end < end; }
    friend bool operator==(const LogBounds&, const LogBounds&) = default;
};
[[nodiscard]] LogBounds log_bounds(const PartitionLog& log);

/// What a partition holds.
struct PartitionSize {
    PartitionIndex partition;
    LogBounds bounds;
    /// The size of its log files, without indexes.
    std::uint64_t bytes = 0;

    friend bool operator==(const PartitionSize&, const PartitionSize&) = default;
};
[[nodiscard]] PartitionSize partition_size(PartitionIndex index, const Partition& partition);

struct TopicSize {
    /// Never null.
    catalog::TopicPointer topic;
    /// By index.
    std::vector<PartitionSize> partitions;

    [[nodiscard]] std::uint64_t bytes() const;
    /// Offsets between starts and ends: as many records, unless the topic is compacted or has transactions.
    [[nodiscard]] std::int64_t offsets() const;
    /// The ends of all partitions together: it grows with every record, and nothing lowers it. Whoever looks twice knows a rate.
    [[nodiscard]] std::int64_t written() const;
};
[[nodiscard]] TopicSize topic_size(const TopicState& topic);
/// What all topics hold, ascending by name. Takes a moment's lock of each log: time grows with the partitions.
[[nodiscard]] std::vector<TopicSize> topic_sizes(const TopicTable& table);

}  // namespace partita::runtime
