#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "broker/fetch/fetch_waiters.h"
#include "broker/logs/outcome.h"
#include "storage/partition_log.h"

namespace partita::logs {

/// A partition as the running broker sees it: its log, and who waits for it. It lives as long as anybody refers to it; the log
/// of a deleted partition answers `closed`.
struct Partition {
    Partition(std::shared_ptr<PartitionLog> log, fetch::PartitionKey key) : log(std::move(log)), key(key) {}

    /// The leader epoch that appends carry and that clients are told. It is 0, because this broker never loses leadership,
    /// unless the log came from a Kafka that had counted further.
    [[nodiscard]] LeaderEpoch leader_epoch() const { return std::max(log->latest_leader_epoch(), LeaderEpoch{0}); }
    /// What becomes of a request that names the leader epoch `named` (KIP-320); kNoLeaderEpoch asks for no check.
    [[nodiscard]] Outcome judge_leader_epoch(LeaderEpoch named) const {
        if (named == kNoLeaderEpoch) {
            return Outcome::ok;
        }
        const LeaderEpoch current = leader_epoch();
        return named < current ? Outcome::fenced_leader_epoch : named > current ? Outcome::unknown_leader_epoch : Outcome::ok;
    }

    const std::shared_ptr<PartitionLog> log;
    /// Unique in the process, and never used again.
    const fetch::PartitionKey key;

    /// One bit for each reactor that has fetches waiting for this partition. A reactor sets and clears only its own bit.
    /// The waiter sets its bit and then looks at the log end once more; the writer publishes the log end and then looks at the
    /// bits. Both are sequentially consistent, so that one of them sees the other.
    std::atomic<std::uint64_t> waiting_reactors = 0;
    static constexpr std::uint32_t kReactorsMax = 64;

    /// Records appended since the last requested sync, for flush.messages.
    std::atomic<std::int64_t> unsynced_records = 0;
};

}  // namespace partita::logs

namespace partita::runtime {
using logs::Partition;
}  // namespace partita::runtime
