#pragma once

#include <cstdint>

namespace partita {

/// Those topic configs that shape a log, with Kafka's defaults and in Kafka's units. Immutable and
/// shared by all partitions of a topic; a change swaps the pointer.
struct LogConfig {
    /// segment.bytes: a segment that would grow beyond it is rolled first.
    std::int64_t segment_bytes = 1073741824;
    /// segment.ms: a segment is rolled when a batch is this much later than the segment's first one.
    std::int64_t segment_ms = 604800000;
    /// segment.jitter.ms: each segment's limit is shortened by less than this, so that many
    /// partitions do not roll at once.
    std::int64_t segment_jitter_ms = 0;
    /// segment.index.bytes: a full index rolls the segment.
    std::int64_t segment_index_bytes = 10485760;
    /// index.interval.bytes: one index entry at most per so many bytes.
    std::int64_t index_interval_bytes = 4096;
    /// retention.ms and retention.bytes; -1 is unlimited.
    std::int64_t retention_ms = 604800000;
    std::int64_t retention_bytes = -1;
    /// cleanup.policy contains "delete".
    bool delete_old_segments = true;
    /// cleanup.policy contains "compact": of every key the last value is kept, see log_cleaner.h.
    bool compact = false;
    /// min.cleanable.dirty.ratio: a log is cleaned when more than this share of it was never cleaned.
    double min_cleanable_dirty_ratio = 0.5;
    /// min.compaction.lag.ms: a segment with a record younger than this is not cleaned.
    std::int64_t min_compaction_lag_ms = 0;
    /// max.compaction.lag.ms: a record older than this that was never cleaned makes a cleaning due.
    std::int64_t max_compaction_lag_ms = 9223372036854775807;
    /// delete.retention.ms: a tombstone stays this long after the cleaning that found it first.
    std::int64_t delete_retention_ms = 86400000;
    /// producer.id.expiration.ms of the broker.
    std::int64_t producer_id_expiration_ms = 86400000;
};

}  // namespace partita
