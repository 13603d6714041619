#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "broker/fetch/fetch_waiters.h"
#include "protocol/error_code.h"
#include "storage/partition_log.h"

namespace partita::runtime {

/// A partition as the running broker sees it: its log, and who waits for it. Lives as long as anybody
/// refers to it; a deleted partition's log answers `closed`.
struct Partition {
    Partition(std::shared_ptr<PartitionLog> log, fetch::PartitionKey key) : log(std::move(log)), key(key) {}

    /// The epoch that appends carry and clients are told: 0 on this broker, which never loses leadership,
    /// unless the log came from a Kafka that had counted further.
    [[nodiscard]] LeaderEpoch leader_epoch() const {
        return log->has_files() ? std::max(log->latest_leader_epoch(), LeaderEpoch{0}) : LeaderEpoch{0};
    }
    /// What a request that names its leader epoch is told (KIP-320); -1 asks for no check.
    [[nodiscard]] ErrorCode judge_leader_epoch(LeaderEpoch named) const {
        if (named == kNoLeaderEpoch) {
            return ErrorCode::none;
        }
        const LeaderEpoch current = leader_epoch();
        return named < current   ? ErrorCode::fenced_leader_epoch
               : named > current ? ErrorCode::unknown_leader_epoch
                                 : ErrorCode::none;
    }

    const std::shared_ptr<PartitionLog> log;
    /// Unique in the life of the process.
    const fetch::PartitionKey key;

    /// One bit per reactor with fetches parked here. A reactor sets and clears only its own.
    /// Order: the waiter sets its bit and then looks at the log end once more; the writer publishes
    /// the log end and then looks at the bits (both sequentially consistent), so one of them sees the other.
    std::atomic<std::uint64_t> waiting_reactors = 0;
    static constexpr std::uint32_t kReactorsMax = 64;

    /// Records appended since the last requested sync, for flush.messages.
    std::atomic<std::int64_t> unsynced_records = 0;
};

}  // namespace partita::runtime
