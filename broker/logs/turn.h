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

/// A partition that a fetch waits for, and what the fetch saw of it.
struct WaitFor {
    std::shared_ptr<Partition> partition;
    /// The log end and the last stable offset that the fetch has seen.
    Offset seen_end;
    Offset stable_end;
    std::int64_t countable_bytes;
    /// For a fetch of committed records: the last stable offset when it looked, if another one is a reason to look again.
    Offset watched_stable_end = kNoOffset;
};

/// What a fetch waits for; see FetchWaiters.
struct FetchWait {
    std::vector<WaitFor> partitions;
    std::int64_t missing_bytes = 0;
    Instant deadline;
    fetch::FetchWaiters::Isolation isolation = fetch::FetchWaiters::Isolation::read_uncommitted;
};

/// A fetch that waits for bytes or for its deadline.
class WaitingFetch {
  public:
    virtual ~WaitingFetch() = default;
    /// Reads again and replies with whatever is there. The turn calls this at its end, and afterwards calls the fetch no more.
    virtual void complete(Turn& turn) = 0;
    /// Reads again. Replies and returns empty if the answer is due; otherwise returns what the fetch still waits for. The turn
    /// calls this at its end when a partition changed in a way that cannot be counted in bytes.
    [[nodiscard]] virtual std::optional<FetchWait> look(Turn& turn) = 0;
};

/// One reactor's part of the request path: the memory of the requests of a turn, the appends to be written together at its end,
/// and the fetches that wait for appends. Only the reactor's thread calls it.
///
/// Topic states and partitions found through `topics()` stay valid until the end of the turn.
class Turn final : public runtime::TurnParticipant {
  public:
    /// `turns` has this turn and those of the other reactors, and passes appends on to them.
    Turn(Turns& turns, const PublishedTopics& topics, runtime::Reactor& reactor);

    [[nodiscard]] runtime::Reactor& reactor() { return reactor_; }
    [[nodiscard]] Arena& arena() { return arena_; }
    [[nodiscard]] Now now() const { return reactor_.now(); }

    /// The newest topic table: it has every topic whose creation was acknowledged before this call. A later call of the same turn
    /// may return a newer one.
    [[nodiscard]] const TopicTable& topics();
    /// Keeps a table beyond the turn, for whoever keeps what it found there: one that `topics()` returned in this turn.
    [[nodiscard]] std::shared_ptr<const TopicTable> keep(const TopicTable& table) const;

    /// A request for `Appender::append`, empty: the next call returns the same one until that has staged it. The reference is
    /// valid until its listener has heard how it ended.
    [[nodiscard]] AppendRequest& append_request();
    /// Has the request concluded after the write at the end of the turn. The appender calls this.
    void write_at_end(AppendRequest& request);
    /// Makes the end of the turn flush what was staged in `partition`.
    void mark_dirty(Partition& partition);

    /// Wakes fetches after this thread has appended `size_bytes` to `partition` outside of staged requests, as coordinators do.
    void appended(Partition& partition, std::size_t size_bytes);
    /// Wakes fetches after another reactor has appended. That reactor posts the call to this one (Turns::post_append).
    void on_foreign_append(fetch::PartitionKey partition, const fetch::FetchWaiters::Growth& growth);
    /// Wakes fetches after the partition changed in a way that they must see (deletion, log start).
    void on_change(fetch::PartitionKey partition);

    /// Parks a fetch. Returns its id for `cancel_fetch`.
    fetch::WaiterId park_fetch(std::unique_ptr<WaitingFetch> fetch, const FetchWait& wait);
    void cancel_fetch(fetch::WaiterId waiter);
    /// Answers every waiting fetch in this turn, for shutdown.
    void complete_all_fetches();

    void end_turn(Now now) override;
    /// Now, while a fetch that has looked must look again.
    [[nodiscard]] std::optional<Instant> next_deadline() override {
        return woken_.empty() ? waiters_.next_deadline() : now().monotonic;
    }

    [[nodiscard]] std::size_t waiting_fetches() const { return fetches_.size(); }

  private:
    struct Waited {
        std::unique_ptr<WaitingFetch> fetch;
        std::vector<std::shared_ptr<Partition>> partitions;
    };

    void flush_appends();
    /// The log end is published, and a fence stands between that and this call.
    void tell_who_waits(Partition& partition, std::size_t size_bytes);
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
    // Older tables, into which earlier requests of this turn still point.
    std::vector<std::shared_ptr<const TopicTable>> retained_tables_;

    std::vector<std::unique_ptr<AppendRequest>> staged_;
    std::size_t staged_count_ = 0;
    std::vector<Partition*> dirty_;

    fetch::FetchWaiters waiters_;
    std::unordered_map<fetch::WaiterId, Waited> fetches_;
    // The fetches that the next `complete_fetches` wakes, and the list that it is going through.
    std::vector<fetch::FetchWaiters::Woken> woken_;
    std::vector<fetch::FetchWaiters::Woken> waking_;
    /// The broker stops: a woken fetch is answered and waits no longer.
    bool answers_all_ = false;
};

}  // namespace partita::logs

namespace partita::runtime {
using logs::FetchWait;
using logs::Turn;
using logs::WaitFor;
using logs::WaitingFetch;
}  // namespace partita::runtime
