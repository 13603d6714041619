#pragma once

#include <cstddef>
#include <span>

#include "storage/log_config.h"
#include "storage/partition_log.h"

namespace partita {

/// How many of the oldest segments go. Pure. `segments` ascend; the last one is active and is chosen
/// only when everything before it goes too and the policy says so (the log then rolls first).
///
/// As in Kafka: everything wholly below the log start goes, whatever the policy. With cleanup.policy
/// delete, the oldest segments go while they are expired (greatest timestamp older than retention.ms;
/// time of the last write where no record has a timestamp), and while the log without them is still at
/// least retention.bytes large. Compacted-only logs keep the rest. A timestamp in the future keeps its
/// segment, and all behind it, from expiring.
[[nodiscard]] std::size_t segments_to_delete(std::span<const SegmentSummary> segments, const LogConfig& config,
                                             TimestampMs now, Offset log_start);

}  // namespace partita
