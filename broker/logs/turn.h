#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "broker/fetch/fetch_waiters.h"
#include "broker/logs/append.h"
#include "broker/logs/partition.h"
#include "broker/logs/topic_table.h"
#include "broker/runtime/loop/reactor.h"
#include "protocol/arena.h"

namespace partita::logs {

class PublishedTopics;
class Turn;
class Turns;

/// A partition that a fetch waits for, and what the fetch has seen of it.
struct WaitFor {
    std::shared_ptr<Partition> partition;
    /// The log end and the last stable offset that the fetch has seen.
    Offset seen_end;
    Offset stable_end;
    std::int64_t countable_bytes;
    /// For a read_committed fetch: the last stable offset at its last look, if a change of it is a reason to look again.
    Offset watched_stable_end = kNoOffset;
};

/// The conditions that a fetch waits for; see FetchWaiters.
struct FetchWait {
    std::vector<WaitFor> partitions;
    std::int64_t missing_bytes = 0;
    /// By the machine's clock.
    Instant deadline;
    fetch::FetchWaiters::Isolation isolation = fetch::FetchWaiters::Isolation::read_uncommitted;
};

/// A fetch that waits for bytes or for its deadline.
class WaitingFetch {
  public:
    virtual ~WaitingFetch() = default;
    /// Reads again and replies with whatever is there. The turn calls this at its end and does not call the fetch again.
    virtual void complete(Turn& turn) = 0;
    /// Reads again. Replies and returns empty if the answer is due; otherwise returns what the fetch still waits for. The turn
    /// calls this at its end if a partition changed in a way that cannot be counted in bytes.
    [[nodiscard]] virtual std::optional<FetchWait> look(Turn& turn) = 0;
};

/// One reactor's part of the request path. It holds the memory of a turn's requests, the appends to write together at its end,
/// and the fetches that wait for appends. Only the reactor's thread calls it.
///
/// Topic states and partitions found through `topics()` stay valid until the end of the turn.
class Turn final : public runtime::TurnParticipant {
  public:
    /// `turns` owns this turn and those of the other reactors, and passes appends on to them.
    Turn(Turns& turns, const PublishedTopics& topics, runtime::Reactor& reactor);

    [[nodiscard]] runtime::Reactor& reactor() { return reactor_; }
    [[nodiscard]] Arena& arena() { return arena_; }
    [[nodiscard]] Now now() const { return reactor_.now(); }
    /// The machine's clock, by which fetches wait.
    [[nodiscard]] Instant machine_now() const { return reactor_.machine_now(); }

    /// The newest topic table. It has every topic whose creation was acknowledged before this call. A later call in the same turn
    /// may return a newer table.
    [[nodiscard]] const TopicTable& topics();
    /// Shares ownership of a table, so that a caller may keep pointers into it beyond the turn. `table` must come from `topics()`
    /// in this turn.
    [[nodiscard]] std::shared_ptr<const TopicTable> keep(const TopicTable& table) const;

    /// An empty request for `Appender::append`. Each call returns the same request until `append` has taken it. The reference is
    /// valid until the request's listener has received the result.
    [[nodiscard]] AppendRequest& append_request();
    /// Makes the turn conclude the request after the write at its end. The appender calls this.
    void write_at_end(AppendRequest& request);
    /// Notes that appends are staged in `partition`. The turn flushes them at its end.
    void mark_dirty(Partition& partition);

    /// Wakes fetches after this thread appended `size_bytes` to `partition` without a staged request, as coordinators do.
    void appended(Partition& partition, std::size_t size_bytes);
    /// Wakes fetches after another reactor appended. That reactor posts this call (Turns::post_append).
    void on_foreign_append(fetch::PartitionKey partition, const fetch::FetchWaiters::Growth& growth);
    /// Wakes fetches after the partition changed in a way that they must see: it was deleted, or its log start moved.
    void on_change(fetch::PartitionKey partition);

    /// Parks a fetch. Returns its id for `cancel_fetch`.
    fetch::WaiterId park_fetch(std::unique_ptr<WaitingFetch> fetch, const FetchWait& wait);
    void cancel_fetch(fetch::WaiterId waiter);
    /// Answers every waiting fetch in this turn, for shutdown.
    void complete_all_fetches();

    void end_turn(Now now) override;
    /// Now, if a fetch that has looked must look again.
    [[nodiscard]] std::optional<Instant> next_deadline() override {
        return woken_.empty() ? std::nullopt : std::optional(now().monotonic);
    }
    [[nodiscard]] std::optional<Instant> next_machine_deadline() override { return waiters_.next_deadline(); }

    [[nodiscard]] std::size_t waiting_fetches() const { return fetches_.size(); }

  private:
    struct Waited {
        std::unique_ptr<WaitingFetch> fetch;
        std::vector<std::shared_ptr<Partition>> partitions;
    };

    void flush_appends();
    /// Wakes the fetches that wait for the partition, on every reactor. The caller has published the log end, and put a memory
    /// fence between that and this call.
    void notify_waiting_fetches(Partition& partition, std::size_t size_bytes);
    void complete_fetches();
    void wake(const fetch::FetchWaiters::Woken& woken);
    [[nodiscard]] static fetch::FetchWaiters::Wait counted(const FetchWait& wait);
    /// Sets this reactor's bit in the partitions.
    void show_interest(const FetchWait& wait);
    /// Lets a fetch look again if an append came between its read and the setting of the bit.
    void look_once_more(const FetchWait& wait);
    void forget_interest(const Waited& waited);

    Turns& turns_;
    const PublishedTopics& published_;
    runtime::Reactor& reactor_;
    Arena arena_;
    std::uint64_t table_version_ = 0;
    std::shared_ptr<const TopicTable> table_;
    // Older tables that earlier requests of this turn still refer to.
    std::vector<std::shared_ptr<const TopicTable>> retained_tables_;

    std::vector<std::unique_ptr<AppendRequest>> staged_;
    std::size_t staged_count_ = 0;
    std::vector<Partition*> dirty_;

    fetch::FetchWaiters waiters_;
    std::unordered_map<fetch::WaiterId, Waited> fetches_;
    // The fetches that the next `complete_fetches` wakes, and the list that it works through now.
    std::vector<fetch::FetchWaiters::Woken> woken_;
    std::vector<fetch::FetchWaiters::Woken> waking_;
    /// The broker stops: a woken fetch is answered and does not wait again.
    bool answers_all_ = false;
};

}  // namespace partita::logs
