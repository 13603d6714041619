#pragma once

#include <cstdint>

#include "protocol/required.h"

namespace partita {

/// The topic configs that shape a log, in Kafka's units. Immutable and shared by all partitions of a topic; a change swaps the
/// pointer.
struct LogConfig {
    /// segment.bytes: a segment that would grow beyond it is rolled first.
    Required<std::int64_t> segment_bytes;
    /// segment.ms: a segment is rolled when a batch is this much later than the segment's first one.
    Required<std::int64_t> segment_ms;
    /// segment.jitter.ms: each segment's limit is shortened by less than this, so that many
    /// partitions do not roll at once.
    Required<std::int64_t> segment_jitter_ms;
    /// segment.index.bytes: a full index rolls the segment.
    Required<std::int64_t> segment_index_bytes;
    /// index.interval.bytes: an index gets at most one entry per this many bytes.
    Required<std::int64_t> index_interval_bytes;
    /// retention.ms and retention.bytes; -1 is unlimited.
    Required<std::int64_t> retention_ms;
    Required<std::int64_t> retention_bytes;
    /// cleanup.policy contains "delete".
    Required<bool> delete_old_segments;
    /// cleanup.policy contains "compact": the log keeps the last value of every key, see log_cleaner.h.
    Required<bool> compact;
    /// min.cleanable.dirty.ratio: a log is cleaned when more than this share of it was never cleaned.
    Required<double> min_cleanable_dirty_ratio;
    /// min.compaction.lag.ms: a segment with a record younger than this is not cleaned.
    Required<std::int64_t> min_compaction_lag_ms;
    /// max.compaction.lag.ms: a record older than this that was never cleaned makes a cleaning due.
    Required<std::int64_t> max_compaction_lag_ms;
    /// delete.retention.ms: a tombstone stays this long after the cleaning that found it first.
    Required<std::int64_t> delete_retention_ms;
    /// producer.id.expiration.ms of the broker.
    Required<std::int64_t> producer_id_expiration_ms;
};

}  // namespace partita
