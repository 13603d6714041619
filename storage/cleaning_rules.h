#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/log_config.h"
#include "storage/partition_log.h"

namespace partita {

/// The inputs of the cleaning decision, besides the log's segments and config.
struct CleaningPosition {
    /// Everything below this offset was cleaned (cleaner-offset-checkpoint); kNoOffset when nothing was.
    Offset first_dirty_offset = kNoOffset;
    Offset log_start_offset{0};
    /// A cleaning touches nothing at or above this offset: neither records of open transactions, nor unsynced data, nor records
    /// that another reader still needs unchanged.
    Offset clean_below{0};
};

/// The part of a log that a cleaning would compact now.
struct DirtyRange {
    Offset first_dirty{0};
    Offset first_uncleanable{0};
    std::uint64_t clean_bytes = 0;
    std::uint64_t dirty_bytes = 0;
    /// A record in the range has waited longer than max.compaction.lag.ms.
    bool is_overdue = false;

    /// The share of the log that a cleaning would compact for the first time.
    [[nodiscard]] double dirty_ratio() const;
    [[nodiscard]] bool is_worth_cleaning(double min_cleanable_dirty_ratio) const;
};

/// Applies Kafka's rules. Pure. The active segment, the last of `segments`, is never cleaned; nor is a segment with a
/// record younger than min.compaction.lag.ms, nor any segment behind it. `first_timestamps[i]` is the greatest
/// timestamp of the first batch of segment i, kNoTimestamp when unknown; it may be shorter than `segments`.
[[nodiscard]] DirtyRange find_dirty_range(std::span<const SegmentSummary> segments, std::span<const TimestampMs> first_timestamps,
                                          const CleaningPosition& position, const LogConfig& config, TimestampMs now);

inline constexpr std::size_t kMostSegmentsInGroup = 64;

/// Groups neighbouring segments that a cleaning merges into one. A group has at most segment.bytes, segment.index.bytes, 2^31-1
/// offsets and kMostSegmentsInGroup segments. Returns the length of each group; the groups cover all of `segments`.
[[nodiscard]] std::vector<std::size_t> group_segments(std::span<const SegmentSummary> segments, const LogConfig& config);

}  // namespace partita
