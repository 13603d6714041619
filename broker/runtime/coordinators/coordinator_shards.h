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

/// The index of the shard that keeps the state of `key` (a group id, a transactional id). It is Kafka's `abs(hashCode(key)) %
/// partitions`, with Java's hash over UTF-16 units, so that tools that compute it agree.
[[nodiscard]] std::size_t coordinator_shard_index(std::string_view key, std::size_t shards);

/// The coordinators of one kind: one per partition of their topic, each with the log that makes it durable. A shard is a small
/// state under a mutex, and no thread owns it: the thread of a client's connection serves the client's requests.
///
/// One rule holds everywhere: records are in the log before a reply leaves. If a shard cannot write them, it discards the core's
/// memory and answers all waiting requests with NOT_COORDINATOR, as Kafka does when a coordinator fails to write. Maintenance
/// rebuilds the core from checkpoint and log, because that needs the disk. Until then, for some milliseconds, requests are
/// answered NOT_COORDINATOR too.
///
/// A kind derives from this class. It defines how to make a core, which parts hear of durable records, and where its locks rank
/// among others. Its .cc includes `coordinator_shards_impl.h` and instantiates this class; no other file does.
///
/// A thread never holds the locks of two shards.
template <coordination::CoordinatorCore Core>
class CoordinatorShards : public CoordinatorHost {
  public:
    using Result = typename Core::Result;
    /// The size limit of the data that a protocol needs to encode a later reply; the data is stored in place.
    static constexpr std::size_t kCallBytesMax = 96;

    struct Surroundings {
        logs::Turns& turns;
        MetadataStore& store;
        UpkeepBell& upkeep;
        FailureLog& failures;
        /// May be null if the core does not write to other partitions.
        OutwardWrites* outward_writes = nullptr;
    };

    // CoordinatorHost
    [[nodiscard]] bool attach(std::span<const std::shared_ptr<logs::Partition>> partitions) override;
    [[nodiscard]] StorageResult<void> load(Now now) override;
    void serve(Now now) override;
    void forget_all(Now now) override;
    void detach() override;
    [[nodiscard]] bool is_attached() const override { return attached_.load(std::memory_order_acquire); }
    [[nodiscard]] bool rebuild_lost() override;
    void topic_deleted(logs::Turn* turn, const coordination::TopicDeleted& event, Now now) override;
    void tick(logs::Turn& turn, Now now) override;
    [[nodiscard]] std::optional<Instant> next_deadline() const override;
    void write_markers(const logs::Partition& partition, std::span<const coordination::OutwardWrite> markers, TimestampMs now,
                       std::span<ErrorCode> errors) override;
    void fail_waiting(logs::Turn& turn) override;

    /// False while a shard waits for its rebuild. Answers about all shards may then be incomplete.
    [[nodiscard]] bool is_complete() const { return rebuilding_.load(std::memory_order_acquire) == 0; }
    [[nodiscard]] std::size_t shard_count() const { return is_attached() ? shards_.size() : 0; }
    [[nodiscard]] std::size_t shard_of(std::string_view key) const { return coordinator_shard_index(key, shards_.size()); }

    /// Runs a command in the shard of `key`; the answer may come later. `encode(call, result)` makes the reply, which is
    /// delivered to `call.target` when it is ready, maybe before this returns. `call` holds what the caller's protocol needs for
    /// that, at most `kCallBytesMax` bytes. Allowed only while the coordinators are attached (`is_attached`).
    template <auto encode, class Call, class Command>
    void execute(logs::Turn& turn, std::string_view key, const Call& call, Command command);

    /// Runs a command that is answered within this call, and returns the answer once it is durable. Empty if it could not be
    /// persisted or the coordinators are not attached; the caller then answers NOT_COORDINATOR.
    template <class Command>
    [[nodiscard]] std::optional<typename Command::Result> ask(logs::Turn& turn, std::string_view key, Command command) {
        if (!is_attached()) {
            return std::nullopt;
        }
        return ask_shard(turn, shard_of(key), std::move(command));
    }
    /// Like `ask`, but first `look` sees the core as it was just before the command.
    template <class Command, class Look>
    [[nodiscard]] std::optional<typename Command::Result> look_and_ask(logs::Turn& turn, std::string_view key, Look&& look,
                                                                       Command command);
    /// Like `ask`, for a shard by its number; for requests that go to all shards.
    template <class Command>
    [[nodiscard]] std::optional<typename Command::Result> ask_shard(logs::Turn& turn, std::size_t shard, Command command) {
        return ask_in(*shards_[shard], turn, [](const Core&) {}, std::move(command));
    }

  protected:
    /// `rank`: the rank of the shards' locks. A core that writes outward does so under its shard's lock, into logs and into the
    /// topics of other coordinators. The ranks of those locks are therefore below its own.
    CoordinatorShards(const Surroundings& surroundings, LockRank rank) : around_(surroundings), rank_(rank) {}

    // The hooks of a kind. All but make_core do nothing by default. They run with the shard's lock held unless stated otherwise.

    /// Makes an empty core for this partition. The rebuilding thread also calls this without a lock.
    [[nodiscard]] virtual std::unique_ptr<Core> make_core(const logs::Partition& partition) = 0;
    /// Called after a rebuild: gives the core the decisions of the broker that it missed.
    virtual void bring_up_to_date(Core& /*core*/) {}
    /// These records are in the log; the replies that depend on them have not left yet.
    virtual void on_persisted(std::span<const typename Core::Record> /*records*/) {}
    /// A timer of the core brought these records about. They are not in the log yet.
    virtual void on_timer(std::span<const typename Core::Record> /*records*/) {}
    /// A shard has a new core.
    virtual void on_replaced() {}
    /// Called when the marker that ends a transaction is in the log. Makes the core end the transaction, and notifies listeners.
    /// For kinds whose core takes part in transactions.
    virtual void end_transaction(Core& /*core*/, ProducerId /*producer_id*/, bool /*is_commit*/) {}

    enum class State : std::uint8_t {
        serving,
        /// A write failed. The core is an empty one that never answers, until maintenance makes another.
        rebuilding,
        /// The log was deleted and no new one exists yet.
        gone,
    };
    /// A request without an answer so far.
    struct Waiting {
        ReplyTarget target;
        InlineFunction<Reply(const Result& result), kCallBytesMax> encode;
    };
    struct Shard {
        explicit Shard(LockRank rank) : mutex(rank) {}

        Mutex mutex;
        std::unique_ptr<Core> core GUARDED_BY(mutex);
        std::shared_ptr<logs::Partition> partition GUARDED_BY(mutex);
        typename Core::Effects effects GUARDED_BY(mutex);
        std::unordered_map<std::uint64_t, Waiting> waiting GUARDED_BY(mutex);
        State state GUARDED_BY(mutex) = State::gone;
        /// The verification for the next records within a transaction; see AppendContext.
        std::optional<TransactionVerification> verification GUARDED_BY(mutex);
        /// Topics that were deleted during the rebuild.
        std::vector<std::pair<std::string, TopicId>> missed_deletions GUARDED_BY(mutex);
        /// Grows with every persisted change, so that readers see without the lock whether they are up to date.
        std::atomic<std::uint64_t> version = 1;
        /// For readers without the lock; the largest number if no deadline is set.
        std::atomic<std::int64_t> deadline_ms;
    };

    /// The shards in the order of their partitions. They stay as long as any thread may use them, even if the topic is deleted.
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
    /// Runs the shard's due timers. Code that brings a command calls this first: on a busy machine, requests may be served before
    /// the first reactor runs its timers. The command must not find an expired member or transaction alive.
    void run_due_timers(Shard& shard, logs::Turn& turn) REQUIRES(shard.mutex);
    /// For commands without replies: persists their effects. If that fails, it discards the shard's memory and returns false.
    [[nodiscard]] bool settle_records(Shard& shard, logs::Turn* turn, Now now) REQUIRES(shard.mutex);
    /// Like `ask`, for callers that hold the shard's lock.
    template <class Command>
    [[nodiscard]] std::optional<typename Command::Result> ask_locked(Shard& shard, logs::Turn& turn, Command command)
        REQUIRES(shard.mutex);

  private:
    using ReplyToken = coordination::ReplyToken;
    using AnyReply = coordination::Reply<Result>;

    [[nodiscard]] ReplyToken new_token() { return {next_token_.fetch_add(1, std::memory_order_relaxed)}; }
    template <class Look, class Command>
    [[nodiscard]] std::optional<typename Command::Result> ask_in(Shard& shard, logs::Turn& turn, Look&& look, Command command)
        EXCLUDES(shard.mutex);
    /// Decodes a record of the log for `replay`; empty if the record has no effect.
    [[nodiscard]] static std::expected<std::optional<typename Core::Record>, DecodeError> read(const KeyedRecord& persisted,
                                                                                               Arena& arena);
    [[nodiscard]] AppendContext append_context(const Shard& shard, Now now) const REQUIRES(shard.mutex);
    /// Makes a core from the log of the partition. Leaves out unreadable records and reports them. Reads the disk and takes no
    /// lock.
    [[nodiscard]] StorageResult<std::unique_ptr<Core>> rebuild(const logs::Partition& partition);
    void begin_serving(Shard& shard, std::unique_ptr<Core> core, Now now) REQUIRES(shard.mutex);
    /// Replaces the core by an empty one: the log is gone, or a rebuild will follow.
    void make_empty(Shard& shard, State state, Now now) REQUIRES(shard.mutex);
    void set_state(Shard& shard, State state) REQUIRES(shard.mutex);
    /// Carries out the effects; see there. Returns the result that belongs to `own`, if any, instead of sending it.
    std::optional<Result> settle(Shard& shard, logs::Turn* turn, Now now, std::optional<ReplyToken> own) REQUIRES(shard.mutex);
    [[nodiscard]] std::vector<coordination::OutwardWriteOutcome> carry_out_writes(Shard& shard, logs::Turn* turn, Now now)
        REQUIRES(shard.mutex);
    [[nodiscard]] bool persist(Shard& shard, logs::Turn* turn, Now now) REQUIRES(shard.mutex);
    void throw_away(Shard& shard, Now now) REQUIRES(shard.mutex);
    /// Answers all waiting requests with NOT_COORDINATOR.
    void turn_away(Shard& shard) REQUIRES(shard.mutex);
    void send(Shard& shard, AnyReply& reply) REQUIRES(shard.mutex);
    void update_deadline(Shard& shard) REQUIRES(shard.mutex);

    const Surroundings around_;
    const LockRank rank_;
    std::vector<std::unique_ptr<Shard>> shards_;
    std::atomic<bool> attached_ = false;
    /// The number of shards in the state `rebuilding`.
    std::atomic<int> rebuilding_ = 0;
    std::atomic<std::uint64_t> next_token_ = 1;
};

template <coordination::CoordinatorCore Core>
template <auto encode, class Call, class Command>
void CoordinatorShards<Core>::execute(logs::Turn& turn, std::string_view key, const Call& call, Command command) {
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
std::optional<typename Command::Result> CoordinatorShards<Core>::look_and_ask(logs::Turn& turn, std::string_view key, Look&& look,
                                                                              Command command) {
    if (!is_attached()) {
        return std::nullopt;
    }
    return ask_in(*shards_[shard_of(key)], turn, std::forward<Look>(look), std::move(command));
}

template <coordination::CoordinatorCore Core>
template <class Look, class Command>
std::optional<typename Command::Result> CoordinatorShards<Core>::ask_in(Shard& shard, logs::Turn& turn, Look&& look,
                                                                        Command command) {
    const MutexLock lock(shard.mutex);
    run_due_timers(shard, turn);
    look(std::as_const(*shard.core));
    return ask_locked(shard, turn, std::move(command));
}

template <coordination::CoordinatorCore Core>
template <class Command>
std::optional<typename Command::Result> CoordinatorShards<Core>::ask_locked(Shard& shard, logs::Turn& turn, Command command) {
    command.reply_to = new_token();
    shard.core->decide(command, turn.now(), shard.effects);
    std::optional<Result> result = settle(shard, &turn, turn.now(), command.reply_to);
    if (!result) {
        return std::nullopt;
    }
    return std::move(std::get<typename Command::Result>(*result));
}

}  // namespace partita::runtime
