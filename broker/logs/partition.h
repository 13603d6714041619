#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "broker/fetch/fetch_waiters.h"
#include "broker/logs/outcome.h"
#include "storage/partition_log.h"

namespace partita::logs {

/// A partition as the running broker sees it: its log and its waiting reactors. It is shared and lives as long as its last
/// reference; the log of a deleted partition answers `closed`.
struct Partition {
    Partition(std::shared_ptr<PartitionLog> log, fetch::PartitionKey key) : log(std::move(log)), key(key) {}

    /// The leader epoch of appends and of answers to clients. It is 0, unless one of several nodes lost the leadership. A log
    /// that came from a Kafka with a higher epoch keeps that epoch.
    [[nodiscard]] LeaderEpoch leader_epoch() const {
        return std::max(log->latest_leader_epoch(), LeaderEpoch{raised_epoch.load(std::memory_order_relaxed)});
    }
    /// Begins this epoch, unless a later one has begun. Appends on other threads may still carry the epoch before it.
    void raise_leader_epoch(LeaderEpoch epoch) {
        std::int32_t before = raised_epoch.load(std::memory_order_relaxed);
        while (before < epoch.value && !raised_epoch.compare_exchange_weak(before, epoch.value, std::memory_order_relaxed)) {
        }
    }
    /// The outcome for a request that names the leader epoch `named` (KIP-320). kNoLeaderEpoch asks for no check.
    [[nodiscard]] Outcome judge_leader_epoch(LeaderEpoch named) const {
        if (named == kNoLeaderEpoch) {
            return Outcome::ok;
        }
        const LeaderEpoch current = leader_epoch();
        return named < current ? Outcome::fenced_leader_epoch : named > current ? Outcome::unknown_leader_epoch : Outcome::ok;
    }

    /// "<topic>-<partition>", for messages.
    [[nodiscard]] std::string name() const { return log->directory_name(); }

    const std::shared_ptr<PartitionLog> log;
    /// Unique in the process, and never used again.
    const fetch::PartitionKey key;

    /// One bit for each reactor with fetches that wait for this partition. A reactor sets and clears only its own bit. The waiter
    /// sets its bit, then checks the log end once more. The writer publishes the log end, then checks the bits. Both use
    /// sequentially consistent order, so that at least one sees the other's write.
    std::atomic<std::uint64_t> waiting_reactors = 0;
    static constexpr std::uint32_t kReactorsMax = 64;

    /// The epoch of the newest leader, if a plan of several nodes has one.
    std::atomic<std::int32_t> raised_epoch = 0;

    /// Records appended since the last requested sync, for flush.messages.
    std::atomic<std::int64_t> unsynced_records = 0;
};

}  // namespace partita::logs
