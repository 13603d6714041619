#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "broker/coordination/coordinator_core.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/coordinator_host.h"
#include "broker/runtime/loop/reply.h"
#include "protocol/inline_function.h"
#include "protocol/mutex.h"
#include "storage/partition_log.h"

namespace partita::logs {
class Turns;
}  // namespace partita::logs

namespace partita {
class MetadataStore;
struct KeyedRecord;
}  // namespace partita

namespace partita::runtime {

class FailureLog;
class OutwardWrites;
class UpkeepBell;

/// Which of the shards keeps the state of `key` (a group id, a transactional id): Kafka's `abs(hashCode(key)) % partitions`, with
/// Java's hash over UTF-16 units, so that tools which compute it agree.
[[nodiscard]] std::size_t coordinator_shard_index(std::string_view key, std::size_t shards);

/// The coordinators of one kind, one per partition of their topic, each with the log that makes it durable. A shard is a small
/// mutex-guarded state, not the property of a thread: a client's requests are served on the thread of its connection.
///
/// The rule that everything here serves: records are in the log before a reply leaves. If they cannot be written, the core's
/// memory is thrown away, and everybody who waited is told NOT_COORDINATOR, as Kafka does when a coordinator fails to write.
/// Maintenance rebuilds it from checkpoint and log, which needs the disk; until then, a matter of milliseconds, whoever asks is
/// told NOT_COORDINATOR too.
///
/// What a kind adds is a class that derives from this one: how a core is made, who hears of what became durable, and where its
/// locks stand among others. Its .cc includes `coordinator_shards_impl.h` and instantiates this class; nobody else does.
///
/// No shard's lock is taken with another one's.
template <coordination::CoordinatorCore Core>
class CoordinatorShards : public CoordinatorHost {
  public:
    using Result = typename Core::Result;
    /// How large what a protocol needs to encode a later reply may be: it is kept in place.
    static constexpr std::size_t kCallBytesMax = 96;

    struct Surroundings {
        logs::Turns& turns;
        MetadataStore& store;
        UpkeepBell& upkeep;
        FailureLog& failures;
        /// May be null for a core that writes to no other partitions.
        OutwardWrites* outward_writes = nullptr;
    };

    // CoordinatorHost
    [[nodiscard]] bool attach(std::span<const std::shared_ptr<Partition>> partitions) override;
    [[nodiscard]] StorageResult<void> load(Now now) override;
    void serve(Now now) override;
    void forget_all(Now now) override;
    void detach() override;
    [[nodiscard]] bool is_attached() const override { return attached_.load(std::memory_order_acquire); }
    [[nodiscard]] bool rebuild_lost() override;
    void topic_deleted(Turn* turn, const coordination::TopicDeleted& event, Now now) override;
    void tick(Turn& turn, Now now) override;
    [[nodiscard]] std::optional<Instant> next_deadline() const override;
    void write_markers(const Partition& partition, std::span<const coordination::OutwardWrite> markers, TimestampMs now,
                       std::span<ErrorCode> errors) override;
    void fail_waiting(Turn& turn) override;

    /// False while a shard waits to be rebuilt: what is said of the whole may then lack some of it.
    [[nodiscard]] bool is_complete() const { return rebuilding_.load(std::memory_order_acquire) == 0; }
    [[nodiscard]] std::size_t shard_count() const { return is_attached() ? shards_.size() : 0; }
    [[nodiscard]] std::size_t shard_of(std::string_view key) const { return coordinator_shard_index(key, shards_.size()); }

    /// Runs a command in the shard of `key` whose answer may come later. `encode(call, result)` makes the reply of it, which is
    /// delivered to `call.target` when it comes, maybe before this returns. `call` is what the caller's protocol needs for that;
    /// it fits into `kCallBytesMax`. Only while somebody coordinates (`is_attached`).
    template <auto encode, class Call, class Command>
    void execute(Turn& turn, std::string_view key, const Call& call, Command command);

    /// Runs a command that is answered by its own call, and returns the answer once it is durable; empty when it could not be
    /// persisted, or nobody coordinates: whoever asked is told NOT_COORDINATOR.
    template <class Command>
    [[nodiscard]] std::optional<typename Command::Result> ask(Turn& turn, std::string_view key, Command command) {
        if (!is_attached()) {
            return std::nullopt;
        }
        return ask_shard(turn, shard_of(key), std::move(command));
    }
    /// The same, after `look` saw the core as it was just before.
    template <class Command, class Look>
    [[nodiscard]] std::optional<typename Command::Result> look_and_ask(Turn& turn, std::string_view key, Look&& look,
                                                                       Command command);
    /// The same as `ask` for a shard by its number, for requests that go to all.
    template <class Command>
    [[nodiscard]] std::optional<typename Command::Result> ask_shard(Turn& turn, std::size_t shard, Command command) {
        return ask_in(*shards_[shard], turn, [](const Core&) {}, std::move(command));
    }

  protected:
    /// `rank`: of the locks of its shards. A core that writes outward does so under its shard's lock, into logs and into the
    /// topics of other coordinators, whose ranks are below its own.
    CoordinatorShards(const Surroundings& surroundings, LockRank rank) : around_(surroundings), rank_(rank) {}

    // What a kind adds; all but make_core do nothing by default. Called with the shard's lock held, if not said otherwise.

    /// A core that knows nothing yet, for this partition. Also called without a lock, by the thread that rebuilds.
    [[nodiscard]] virtual std::unique_ptr<Core> make_core(const Partition& partition) = 0;
    /// The core was rebuilt, and what the broker decided meanwhile passed it by.
    virtual void bring_up_to_date(Core& /*core*/) {}
    /// These records are in the log; replies that depend on them have not left yet.
    virtual void on_persisted(std::span<const typename Core::Record> /*records*/) {}
    /// A shard has another core now.
    virtual void on_replaced() {}
    /// The marker that ends a transaction stands in the log: has the core end it, and tells those who want to know. For the kinds
    /// whose core takes part in transactions.
    virtual void end_transaction(Core& /*core*/, ProducerId /*producer_id*/, bool /*is_commit*/) {}

    enum class State : std::uint8_t {
        serving,
        /// A write failed. The core is an empty one that never answers; maintenance makes another.
        rebuilding,
        /// Its log was deleted and there is no new one yet.
        gone,
    };
    /// A request that is not answered yet.
    struct Waiting {
        ReplyTarget target;
        InlineFunction<Reply(const Result& result), kCallBytesMax> encode;
    };
    struct Shard {
        explicit Shard(LockRank rank) : mutex(rank) {}

        Mutex mutex;
        std::unique_ptr<Core> core GUARDED_BY(mutex);
        std::shared_ptr<Partition> partition GUARDED_BY(mutex);
        typename Core::Effects effects GUARDED_BY(mutex);
        std::unordered_map<std::uint64_t, Waiting> waiting GUARDED_BY(mutex);
        State state GUARDED_BY(mutex) = State::gone;
        /// What the next records that stand in a transaction are appended with, see AppendContext.
        std::optional<TransactionVerification> verification GUARDED_BY(mutex);
        /// Topics that were deleted while it was rebuilt.
        std::vector<std::pair<std::string, TopicId>> missed_deletions GUARDED_BY(mutex);
        /// Grows with everything that is persisted, so that readers see without the lock whether they are up to date.
        std::atomic<std::uint64_t> version = 1;
        /// For readers without the lock; the largest number when there is no deadline.
        std::atomic<std::int64_t> deadline_ms;
    };

    /// In the order of their partitions. They stay while anybody may use them, also when the topic is deleted.
    [[nodiscard]] const std::vector<std::unique_ptr<Shard>>& shards() const { return shards_; }
    /// Runs `change` for each core, with its shard locked.
    template <class Change>
    void for_each_core(Change change) {
        for (const std::unique_ptr<Shard>& shard : shards_) {
            const MutexLock lock(shard->mutex);
            if (shard->core) {
                change(*shard->core);
            }
        }
    }
    /// Runs the shard's timers that are due. Whoever brings a command calls this first: on a busy machine requests are served
    /// before the first reactor comes to its timers, and a member or a transaction whose time is over must not be met alive
    /// meanwhile.
    void run_due_timers(Shard& shard, Turn& turn) REQUIRES(shard.mutex);
    /// For commands without replies: persists their effects, or throws the shard's memory away and says
    /// false.
    [[nodiscard]] bool settle_records(Shard& shard, Turn* turn, Now now) REQUIRES(shard.mutex);
    /// As `ask`, by somebody who holds the shard's lock.
    template <class Command>
    [[nodiscard]] std::optional<typename Command::Result> ask_locked(Shard& shard, Turn& turn, Command command)
        REQUIRES(shard.mutex);

  private:
    using ReplyToken = coordination::ReplyToken;
    using AnyReply = coordination::Reply<Result>;

    [[nodiscard]] ReplyToken new_token() { return {next_token_.fetch_add(1, std::memory_order_relaxed)}; }
    template <class Look, class Command>
    [[nodiscard]] std::optional<typename Command::Result> ask_in(Shard& shard, Turn& turn, Look&& look, Command command)
        EXCLUDES(shard.mutex);
    /// What a record of the log says to `replay`; empty for nothing.
    [[nodiscard]] static std::expected<std::optional<typename Core::Record>, DecodeError> read(const KeyedRecord& persisted,
                                                                                               Arena& arena);
    [[nodiscard]] AppendContext append_context(const Shard& shard, Now now) const REQUIRES(shard.mutex);
    /// A core that knows what the log of the partition says. Records that it cannot read are left out, and told. Reads the disk,
    /// and wants no lock.
    [[nodiscard]] StorageResult<std::unique_ptr<Core>> rebuild(const Partition& partition);
    void begin_serving(Shard& shard, std::unique_ptr<Core> core, Now now) REQUIRES(shard.mutex);
    /// Nothing is known any more: of a log that is gone, or until it is rebuilt.
    void make_empty(Shard& shard, State state, Now now) REQUIRES(shard.mutex);
    void set_state(Shard& shard, State state) REQUIRES(shard.mutex);
    /// Does what the effects say, see there. The result that belongs to `own`, if any, is returned instead of sent.
    std::optional<Result> settle(Shard& shard, Turn* turn, Now now, std::optional<ReplyToken> own) REQUIRES(shard.mutex);
    [[nodiscard]] std::vector<coordination::OutwardWriteOutcome> carry_out_writes(Shard& shard, Turn* turn, Now now)
        REQUIRES(shard.mutex);
    [[nodiscard]] bool persist(Shard& shard, Turn* turn, Now now) REQUIRES(shard.mutex);
    void throw_away(Shard& shard, Now now) REQUIRES(shard.mutex);
    /// Answers everybody who waits with NOT_COORDINATOR.
    void turn_away(Shard& shard) REQUIRES(shard.mutex);
    void send(Shard& shard, AnyReply& reply) REQUIRES(shard.mutex);
    void update_deadline(Shard& shard) REQUIRES(shard.mutex);

    const Surroundings around_;
    const LockRank rank_;
    std::vector<std::unique_ptr<Shard>> shards_;
    std::atomic<bool> attached_ = false;
    /// Shards in that state.
    std::atomic<int> rebuilding_ = 0;
    std::atomic<std::uint64_t> next_token_ = 1;
};

template <coordination::CoordinatorCore Core>
template <auto encode, class Call, class Command>
void CoordinatorShards<Core>::execute(Turn& turn, std::string_view key, const Call& call, Command command) {
    Shard& shard = *shards_[shard_of(key)];
    const MutexLock lock(shard.mutex);
    run_due_timers(shard, turn);
    command.reply_to = new_token();
    shard.waiting.emplace(command.reply_to.value, Waiting{call.target, [call](const Result& result) {
                                                              return encode(call, std::get<typename Command::Result>(result));
                                                          }});
    shard.core->decide(command, turn.now(), shard.effects);
    settle(shard, &turn, turn.now(), std::nullopt);
}

template <coordination::CoordinatorCore Core>
template <class Command, class Look>
std::optional<typename Command::Result> CoordinatorShards<Core>::look_and_ask(Turn& turn, std::string_view key, Look&& look,
                                                                              Command command) {
    if (!is_attached()) {
        return std::nullopt;
    }
    return ask_in(*shards_[shard_of(key)], turn, std::forward<Look>(look), std::move(command));
}

template <coordination::CoordinatorCore Core>
template <class Look, class Command>
std::optional<typename Command::Result> CoordinatorShards<Core>::ask_in(Shard& shard, Turn& turn, Look&& look, Command command) {
    const MutexLock lock(shard.mutex);
    run_due_timers(shard, turn);
    look(std::as_const(*shard.core));
    return ask_locked(shard, turn, std::move(command));
}

template <coordination::CoordinatorCore Core>
template <class Command>
std::optional<typename Command::Result> CoordinatorShards<Core>::ask_locked(Shard& shard, Turn& turn, Command command) {
    command.reply_to = new_token();
    shard.core->decide(command, turn.now(), shard.effects);
    std::optional<Result> result = settle(shard, &turn, turn.now(), command.reply_to);
    if (!result) {
        return std::nullopt;
    }
    return std::move(std::get<typename Command::Result>(*result));
}

}  // namespace partita::runtime
