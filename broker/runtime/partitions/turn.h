#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "broker/fetch/fetch_waiters.h"
#include "broker/runtime/loop/reactor.h"
#include "broker/runtime/partitions/partition.h"
#include "broker/runtime/partitions/topic_table.h"
#include "protocol/arena.h"

namespace partita::runtime {

class PublishedTopics;
class Turn;
class Turns;

/// A batch that a request staged.
struct StagedPartition {
    Partition* partition;
    const TopicState* topic;
    StagedAppend append;
    std::size_t size_bytes;
    std::int32_t record_count;
    /// The request's own note: which part of its reply this is.
    std::size_t reply_index;
};

/// A request whose appends are written at the end of the turn. Recycled, so its vectors keep their memory.
struct StagedRequest {
    PendingReply pending;
    std::vector<StagedPartition> partitions;
    /// In the turn's arena.
    void* message = nullptr;
    /// Runs after all staged batches were flushed; their results can be asked for.
    void (*finish)(StagedRequest& request, Turn& turn) = nullptr;
};

/// A partition that a fetch waits for, and what the fetch saw of it.
struct WaitFor {
    std::shared_ptr<Partition> partition;
    /// The log end that the fetch has seen, and the last stable offset.
    Offset seen_end;
    Offset stable_end;
    std::int64_t countable_bytes;
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
    /// Reads again and replies with whatever is there. The turn calls this at its end, and nothing of the fetch after it.
    virtual void complete(Turn& turn) = 0;
    /// Reads again and replies if the answer is due by what it saw; otherwise says what it still waits for. The turn calls
    /// this at its end when a partition changed in a way that nobody could count.
    [[nodiscard]] virtual std::optional<FetchWait> look(Turn& turn) = 0;
};

/// What one reactor does within one loop turn: the memory of its requests, the appends that wait to
/// be written together, and the fetches that wait for appends.
///
/// Topic states and partitions found through `topics()` stay valid until the end of the turn.
class Turn final : public TurnParticipant {
  public:
    /// One of `turns`, through which it tells the others.
    Turn(Turns& turns, const PublishedTopics& topics, Reactor& reactor);

    [[nodiscard]] Reactor& reactor() { return reactor_; }
    [[nodiscard]] Arena& arena() { return arena_; }
    [[nodiscard]] Now now() const { return reactor_.now(); }

    /// The newest table: a topic whose creation was acknowledged before this call is in it.
    [[nodiscard]] const TopicTable& topics();
    /// The same, to be kept beyond the turn.
    [[nodiscard]] const std::shared_ptr<const TopicTable>& shared_topics();

    /// A request that stages appends. Valid until its `finish` returned.
    [[nodiscard]] StagedRequest& begin_staged_request();
    /// Notes that `partition` has something to flush.
    void mark_dirty(Partition& partition);

    /// `partition` was appended to by this thread outside of staged requests (coordinators).
    void appended(Partition& partition, std::size_t size_bytes);
    /// From another reactor, through `Reactor::post`.
    void on_foreign_append(fetch::PartitionKey partition, const fetch::FetchWaiters::Growth& growth);
    /// Something about the partition changed that a fetch must see (deletion, log start).
    void on_change(fetch::PartitionKey partition);

    /// Parks a fetch. Returns its id for `cancel_fetch`.
    fetch::WaiterId park_fetch(std::unique_ptr<WaitingFetch> fetch, const FetchWait& wait);
    void cancel_fetch(fetch::WaiterId waiter);
    /// For shutdown: every waiting fetch is answered in this turn.
    void complete_all_fetches();

    void end_turn(Now now) override;
    /// At once while a fetch that looked has to look again.
    [[nodiscard]] std::optional<Instant> next_deadline() override { return woken_.empty() ? waiters_.next_deadline() : now().monotonic; }

    [[nodiscard]] std::size_t waiting_fetches() const { return fetches_.size(); }

  private:
    struct Waited {
        std::unique_ptr<WaitingFetch> fetch;
        std::vector<std::shared_ptr<Partition>> partitions;
    };

    void flush_appends();
    void complete_fetches();
    void wake(const fetch::FetchWaiters::Woken& woken);
    /// Tells the partitions that this reactor waits for them.
    [[nodiscard]] static fetch::FetchWaiters::Wait counted(const FetchWait& wait);
    void show_interest(const FetchWait& wait);
    /// Lets a fetch look again that missed an append between its read and its bit.
    void look_once_more(const FetchWait& wait);
    void forget_interest(const Waited& waited);

    Turns& turns_;
    const PublishedTopics& published_;
    Reactor& reactor_;
    Arena arena_;
    std::uint64_t table_version_ = 0;
    std::shared_ptr<const TopicTable> table_;
    // Tables of earlier requests of this turn, which still point into them.
    std::vector<std::shared_ptr<const TopicTable>> retained_tables_;

    std::vector<std::unique_ptr<StagedRequest>> staged_;
    std::size_t staged_count_ = 0;
    std::vector<Partition*> dirty_;

    fetch::FetchWaiters waiters_;
    std::unordered_map<fetch::WaiterId, Waited> fetches_;
    // Those of the next `complete_fetches`, and the memory in which it goes through them.
    std::vector<fetch::FetchWaiters::Woken> woken_;
    std::vector<fetch::FetchWaiters::Woken> waking_;
    /// Nobody waits on: the broker stops.
    bool answers_all_ = false;
};

}  // namespace partita::runtime
