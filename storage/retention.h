#pragma once

#include <cstddef>
#include <span>

#include "storage/log_config.h"
#include "storage/partition_log.h"

namespace partita {

/// The number of oldest segments that retention removes. Pure. `segments` ascend; the last one is active. The result includes it
/// only if all segments before it go too and the policy demands it (the log then rolls first).
///
/// As in Kafka, segments wholly below the log start go, whatever the policy. With cleanup.policy delete, the oldest segments go
/// while they are expired, and while the log without them still has at least retention.bytes. A segment expires when its greatest
/// timestamp is older than retention.ms (without timestamps, the time of the last write counts). A timestamp in the future keeps
/// the segment, and all behind it. A log that is only compacted keeps the rest.
[[nodiscard]] std::size_t segments_to_delete(std::span<const SegmentSummary> segments, const LogConfig& config, TimestampMs now,
                                             Offset log_start);

}  // namespace partita
