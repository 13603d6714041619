#pragma once

#include <compare>
#include <cstdint>

#include "protocol/types.h"

namespace partita::share {

/// The state of a record in a share group. The numbers are those of Kafka's records in `__share_group_state`.
enum class RecordState : std::int8_t {
    available = 0,
    /// A member has it until its lock ends. Never persisted.
    acquired = 1,
    acknowledged = 2,
    /// It is not delivered any more: rejected, delivered too often, aborted, or gone from the log.
    archived = 4,
};

/// No later event changes the state of such a record.
[[nodiscard]] constexpr bool is_terminal(RecordState state) {
    return state == RecordState::acknowledged || state == RecordState::archived;
}

/// Consecutive records of one state, in the form in which they are persisted.
struct StateBatch {
    Offset first;
    /// Inclusive.
    Offset last;
    RecordState state = RecordState::available;
    std::int16_t delivery_count = 0;

    friend bool operator==(const StateBatch&, const StateBatch&) = default;
};

/// Consecutive records that a member got, all for the same time.
struct AcquiredRange {
    Offset first;
    /// Inclusive.
    Offset last;
    std::int16_t delivery_count = 0;

    friend bool operator==(const AcquiredRange&, const AcquiredRange&) = default;
};

/// `share.acquire.mode` of a consumer (KIP-1206).
enum class AcquireMode : std::int8_t {
    /// Whole batches of the log, so that the client may get more records than it asked for.
    batch_optimized = 0,
    /// At most the records that it asked for.
    record_limit = 1,
};

/// How a member acknowledges a record.
enum class AcknowledgeType : std::int8_t {
    /// The member found no record at this offset.
    gap = 0,
    accept = 1,
    release = 2,
    reject = 3,
    /// The lock begins anew (KIP-1222).
    renew = 4,
};

/// The settings of a group that decide about its records.
struct ShareLimits {
    /// group.share.delivery.count.limit
    std::int32_t delivery_count = 5;
    /// group.share.partition.max.record.locks
    std::int32_t record_locks = 2000;
    /// group.share.record.lock.duration.ms
    std::int32_t lock_duration_ms = 30'000;
    /// share.renew.acknowledge.enable
    bool may_renew = true;
};

}  // namespace partita::share
