#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "protocol/types.h"

namespace partita::fetch {

/// Names a partition for waiting purposes. The shell gives every partition a number for its lifetime and never reuses
/// it.
struct PartitionKey : StrongInt<struct PartitionKeyTag, std::uint64_t> {
    friend constexpr auto operator<=>(PartitionKey, PartitionKey) = default;
};

/// Names a waiting fetch. The same FetchWaiters never reuses it.
struct WaiterId : StrongInt<struct WaiterIdTag, std::uint64_t> {
    friend constexpr auto operator<=>(WaiterId, WaiterId) = default;
};
/// Names no waiter.
inline constexpr WaiterId kNoWaiter{0};

/// The extra time that an empty fetch waits beyond the client's: a fiftieth, at most 10 ms, plus 1 ms. The 1 ms is there because
/// the clock cuts off fractions of milliseconds and no answer may be early. If a client writes records about as often as fetches
/// end, a record is then in the answer instead of just behind an empty one. (500 ms is the clients' default, and popular with
/// programs.) After an empty answer the Java consumer of Kafka 4.0 to 4.3 with `group.protocol=consumer` may not fetch again
/// during the rest of its poll (KAFKA-20780).
[[nodiscard]] constexpr std::int32_t grace_ms(std::int32_t max_wait_ms) {
    constexpr std::int32_t kShare = 50;
    constexpr std::int32_t kMostMs = 10;
    return std::min(max_wait_ms / kShare, kMostMs) + 1;
}

/// Fetches that could not be answered at once (KIP-30 calls the place a purgatory).
///
/// A fetch waits until one of these holds, as in Kafka's DelayedFetch:
///  - the partitions it reads have gained at least `missing_bytes` that its isolation lets it see (each counted up to its
///    own cap);
///  - a partition changed in a way that only a new read can tell (deleted, start moved, failed; records of transactions
///    became visible);
///  - its deadline passed.
/// The call that makes a condition true then returns the fetch's id with the reason, exactly once, and the shell reads
/// again: that read decides what the reply holds. A fetch that only had to look, and saw too little, goes on waiting
/// under the same id (`resume`).
///
/// A pure core: one caller at a time, no clock, no I/O. Costs grow with the partitions that have
/// waiters, not with the partitions that exist.
class FetchWaiters {
  public:
    struct WaitedPartition {
        PartitionKey partition;
        /// The most that this partition may count towards `missing_bytes`; its own fetch limit less
        /// what was already readable when the wait began.
        std::int64_t countable_bytes = 0;
        /// The last stable offset that the fetch saw, and whether it was the log end. For read_committed.
        Offset stable_end{0};
        bool is_stable = true;
    };

    enum class Isolation : std::uint8_t { read_uncommitted, read_committed };
    struct Wait {
        std::vector<WaitedPartition> partitions;
        /// Above zero.
        std::int64_t missing_bytes = 0;
        Instant deadline;
        Isolation isolation = Isolation::read_uncommitted;
    };

    /// The change that an append made to a partition.
    struct Growth {
        std::int64_t bytes = 0;
        /// The last stable offset after the append, and whether it is the log end, so that no transaction hides any record.
        Offset stable_end;
        bool is_stable = true;
    };

    enum class Reason : std::uint8_t {
        /// The bytes are there: the answer is due, even if the limits leave little room in it.
        enough,
        /// Only a read can tell whether the answer is due.
        look,
        /// The deadline has passed, or the broker stops.
        over,
    };
    struct Woken {
        WaiterId waiter;
        Reason reason = Reason::over;
        friend bool operator==(const Woken&, const Woken&) = default;
    };

    /// Starts a wait. A partition that is named more than once counts once.
    WaiterId add(Wait wait);
    /// Goes on with a wait that ended with `Reason::look`, under the same id.
    void resume(WaiterId waiter, Wait wait);

    /// Ends a wait without an answer, because the connection is gone. Ignores unknown ids, since the wait may have
    /// ended in the same turn.
    void cancel(WaiterId waiter);

    /// `partition` grew. This call and those below append to `woken` the waits that they end.
    void on_append(PartitionKey partition, const Growth& growth, std::vector<Woken>& woken);

    /// `partition` changed: every fetch that waits for it must read again.
    void on_change(PartitionKey partition, std::vector<Woken>& woken);

    /// Ends all waits whose deadline is at or before `now`.
    void advance(Instant now, std::vector<Woken>& woken);

    /// Ends every wait, for shutdown.
    void complete_all(std::vector<Woken>& woken);

    /// When the shell must call `advance` next; null if no fetch waits.
    [[nodiscard]] std::optional<Instant> next_deadline();

    [[nodiscard]] bool waits_for(PartitionKey partition) const { return by_partition_.contains(partition); }
    [[nodiscard]] std::size_t size() const { return waiters_.size(); }
    /// Number of deadlines, including those of ended waits: at most twice `size` plus a constant.
    [[nodiscard]] std::size_t deadline_count() const { return deadlines_.size(); }

  private:
    struct Waiter {
        /// Ascending by partition.
        std::vector<WaitedPartition> partitions;
        std::int64_t missing_bytes;
        Isolation isolation;
        /// Tells the wait's own deadline from earlier ones under the same id: each `resume` makes another deadline.
        std::uint64_t turn;
    };
    struct Deadline {
        Instant at;
        WaiterId waiter;
        std::uint64_t turn;
        // Earliest first; equal deadlines in the order of arrival.
        friend bool operator<(const Deadline& left, const Deadline& right) {
            return left.at != right.at ? left.at > right.at : left.waiter > right.waiter;
        }
    };

    void remove(std::unordered_map<WaiterId, Waiter>::iterator waiter);
    [[nodiscard]] bool is_alive(const Deadline& deadline) const;
    void drop_dead_deadlines();

    std::unordered_map<WaiterId, Waiter> waiters_;
    std::unordered_map<PartitionKey, std::vector<WaiterId>> by_partition_;
    // Holds the deadlines of ended waits too, until they reach the top.
    std::priority_queue<Deadline> deadlines_;
    std::uint64_t last_waiter_ = 0;
    std::uint64_t last_turn_ = 0;
};

}  // namespace partita::fetch
