#pragma once

#include <cstdint>
#include <expected>

#include "broker/logs/outcome.h"
#include "broker/logs/partition.h"
#include "protocol/types.h"

/// Questions for the offsets of a partition, as plain values. The caller has looked the partition up (lookup.h). Thread-safe.

namespace partita::logs {

/// The offset that a caller wants to know.
enum class OffsetOf : std::uint8_t {
    /// The start of the partition.
    start,
    /// The end of the records that the caller may read.
    end,
    /// The record with the greatest timestamp.
    greatest_timestamp,
    /// The first record whose timestamp is OffsetQuery::time or later.
    time,
};

struct OffsetQuery {
    OffsetOf of = OffsetOf::start;
    /// Only for OffsetOf::time.
    TimestampMs time = kNoTimestamp;
    /// The caller reads nothing of an open transaction, nor anything behind its start.
    bool is_committed = false;
};

struct FoundOffset {
    /// kNoOffset if the caller may read no such record. Then the other fields are unset, too.
    Offset offset = kNoOffset;
    /// The timestamp of the record; unset for the start and the end.
    TimestampMs timestamp = kNoTimestamp;
    /// The epoch of the record. For the start: of the record there, or 0 without one. For the end: the current epoch.
    LeaderEpoch leader_epoch = kNoLeaderEpoch;
};

/// Finds the offset. Start and end are always found, without the disk. A search for a record reads the indexes and at most one
/// batch; it fails with `storage_failed` if the disk does, or if the partition was deleted meanwhile.
[[nodiscard]] std::expected<FoundOffset, Failure> find_offset(const Partition& partition, const OffsetQuery& query);

/// The first record of any transaction whose timestamp is `time` or later. Without one: the end of the partition. Fails like
/// `find_offset`.
[[nodiscard]] std::expected<Offset, Failure> first_offset_since(const Partition& partition, TimestampMs time);

/// The largest epoch at or below `epoch`, and the offset where it ends (Kafka's OffsetForLeaderEpoch). The current epoch has not
/// ended: its end is the end of the partition, even if no append used it yet. Both fields are -1 for an epoch above the current
/// one, and if the partition knows no epoch.
[[nodiscard]] EpochEnd end_of_epoch(const Partition& partition, LeaderEpoch epoch);

}  // namespace partita::logs
