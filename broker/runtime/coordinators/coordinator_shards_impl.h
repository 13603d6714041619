#pragma once

// The implementation of CoordinatorShards, for the one .cc of each kind that instantiates it.

#include <algorithm>
#include <limits>

#include "broker/config/log_setup.h"
#include "broker/logs/internal_logs.h"
#include "broker/logs/turns.h"
#include "broker/runtime/coordinators/coordinator_shards.h"
#include "broker/runtime/coordinators/outward_writes.h"
#include "broker/runtime/loop/fail_stop.h"
#include "broker/runtime/loop/failure_log.h"
#include "broker/runtime/loop/upkeep_bell.h"
#include "protocol/assert.h"
#include "protocol/record_batch_builder.h"
#include "protocol/try.h"
#include "storage/keyed_log_checkpoint.h"

namespace partita::runtime {

inline constexpr std::int64_t kNoCoordinatorDeadlineMs = std::numeric_limits<std::int64_t>::max();

/// Memory to build a batch of records. The next batch reuses it, unless it was very large.
struct CoordinatorBatchMemory {
    static constexpr std::size_t kKeptBytes = 1 << 20;

    BatchBuilder builder{BatchOptions()};
    ByteBuffer scratch;
    std::vector<std::byte> batch;
};

template <coordination::CoordinatorCore Core>
bool CoordinatorShards<Core>::attach(std::span<const std::shared_ptr<logs::Partition>> partitions) {
    PARTITA_ASSERT(!is_attached(), "the topic of coordinators is set up once in its life");
    if (!shards_.empty()) {
        // Keep the shards: a thread may still use them because it has not seen that they were detached.
        if (shards_.size() != partitions.size()) {
            return false;
        }
        for (std::size_t index = 0; index < shards_.size(); ++index) {
            const MutexLock lock(shards_[index]->mutex);
            turn_away(*shards_[index]);
            shards_[index]->partition = partitions[index];
        }
        return true;
    }
    for (const std::shared_ptr<logs::Partition>& partition : partitions) {
        auto shard = std::make_unique<Shard>(rank_);
        {
            const MutexLock lock(shard->mutex);
            shard->partition = partition;
        }
        shard->deadline_ms = kNoCoordinatorDeadlineMs;
        shards_.push_back(std::move(shard));
    }
    return true;
}

template <coordination::CoordinatorCore Core>
void CoordinatorShards<Core>::detach() {
    attached_.store(false, std::memory_order_release);
    shards_.clear();
}

template <coordination::CoordinatorCore Core>
void CoordinatorShards<Core>::forget_all(Now now) {
    attached_.store(false, std::memory_order_release);
    for (const std::unique_ptr<Shard>& shard : shards_) {
        const MutexLock lock(shard->mutex);
        set_state(*shard, State::gone);
        throw_away(*shard, now);
        update_deadline(*shard);
    }
}

template <coordination::CoordinatorCore Core>
StorageResult<void> CoordinatorShards<Core>::load(Now now) {
    for (const std::unique_ptr<Shard>& shard : shards_) {
        std::shared_ptr<logs::Partition> partition;
        {
            const MutexLock lock(shard->mutex);
            partition = shard->partition;
        }
        PARTITA_TRY_ASSIGN(auto rebuilt, rebuild(*partition));
        const MutexLock lock(shard->mutex);
        begin_serving(*shard, std::move(rebuilt), now);
    }
    attached_.store(true, std::memory_order_release);
    return {};
}

template <coordination::CoordinatorCore Core>
void CoordinatorShards<Core>::serve(Now now) {
    for (const std::unique_ptr<Shard>& shard : shards_) {
        const MutexLock lock(shard->mutex);
        if (shard->partition->log->log_end_offset() == Offset{0}) {
            begin_serving(*shard, make_core(*shard->partition), now);
        } else {
            make_empty(*shard, State::rebuilding, now);
            around_.upkeep.coordinator_lost();
        }
    }
    attached_.store(true, std::memory_order_release);
}

template <coordination::CoordinatorCore Core>
bool CoordinatorShards<Core>::rebuild_lost() {
    if (!is_attached()) {
        return true;
    }
    bool is_done = true;
    for (const std::unique_ptr<Shard>& shard : shards_) {
        std::shared_ptr<logs::Partition> partition;
        {
            const MutexLock lock(shard->mutex);
            if (shard->state != State::rebuilding) {
                continue;
            }
            partition = shard->partition;
        }
        // Without the lock: in this state no thread appends to the shard's log.
        auto rebuilt = rebuild(*partition);
        const MutexLock lock(shard->mutex);
        if (shard->state != State::rebuilding || shard->partition != partition) {
            continue;
        }
        if (rebuilt) {
            begin_serving(*shard, std::move(*rebuilt), around_.turns.clock().now());
        } else if (rebuilt.error().kind == StorageError::Kind::io || rebuilt.error().kind == StorageError::Kind::closed) {
            is_done = false;
            around_.failures.coordinator_append_failed(partition->log->directory_name(), rebuilt.error().message);
        } else {
            fail_stop(rebuilt.error());
        }
    }
    return is_done;
}

template <coordination::CoordinatorCore Core>
std::expected<std::optional<typename Core::Record>, DecodeError> CoordinatorShards<Core>::read(const KeyedRecord& persisted,
                                                                                               Arena& arena) {
    auto record = Core::decode(persisted.key, persisted.value, arena);
    if (record && *record && persisted.in_open_transaction) {
        if constexpr (coordination::TakesPartInTransactions<Core>) {
            *record = Core::in_transaction(**record, persisted.producer_id);
        } else {
            record->reset();
        }
    }
    return record;
}

template <coordination::CoordinatorCore Core>
StorageResult<std::unique_ptr<Core>> CoordinatorShards<Core>::rebuild(const logs::Partition& partition) {
    std::unique_ptr<Core> core = make_core(partition);
    Arena arena;
    logs::UnreadableRecords unreadable;
    const auto visit = [&](const KeyedRecord& persisted) -> StorageResult<void> {
        arena.reset();
        const auto record = read(persisted, arena);
        if (!record) {
            // The bytes are intact, but no coordinator wrote them: an administrator's client may write here, as with Kafka. The
            // record stays in the log, and all other records count.
            unreadable.note(persisted.offset, to_string(record.error().failure));
        } else if (*record) {
            core->replay(**record);
        }
        return {};
    };
    PARTITA_TRY_ASSIGN(const auto replayed, replay_keyed_log(*partition.log, around_.store, visit));
    logs::report_rewound_checkpoint(*partition.log, replayed.rewound_records);
    logs::report_unreadable_records(*partition.log, unreadable);
    return core;
}

template <coordination::CoordinatorCore Core>
void CoordinatorShards<Core>::begin_serving(Shard& shard, std::unique_ptr<Core> core, Now now) {
    shard.core = std::move(core);
    shard.version.fetch_add(1, std::memory_order_release);
    on_replaced();
    shard.effects.clear();
    bring_up_to_date(*shard.core);
    shard.core->loaded(now, shard.effects);
    for (const auto& [name, id] : shard.missed_deletions) {
        shard.core->topic_deleted({.name = name, .topic_id = id}, now, shard.effects);
    }
    set_state(shard, State::serving);
    settle(shard, nullptr, now, std::nullopt);
    if (shard.state == State::serving) {
        shard.missed_deletions.clear();
    }
}

template <coordination::CoordinatorCore Core>
void CoordinatorShards<Core>::make_empty(Shard& shard, State state, Now now) {
    shard.core = make_core(*shard.partition);
    shard.version.fetch_add(1, std::memory_order_release);
    on_replaced();
    shard.effects.clear();
    shard.core->loaded(now, shard.effects);
    if (state == State::gone) {
        shard.missed_deletions.clear();
    }
    set_state(shard, state);
}

template <coordination::CoordinatorCore Core>
void CoordinatorShards<Core>::set_state(Shard& shard, State state) {
    const int change = (state == State::rebuilding ? 1 : 0) - (shard.state == State::rebuilding ? 1 : 0);
    shard.state = state;
    const auto before = rebuilding_.fetch_add(change, std::memory_order_acq_rel);
    PARTITA_ASSERT(before + change >= 0, "a shard is rebuilt before it is counted as done");
}

template <coordination::CoordinatorCore Core>
void CoordinatorShards<Core>::topic_deleted(logs::Turn* turn, const coordination::TopicDeleted& event, Now now) {
    if (!is_attached()) {
        return;
    }
    for (const std::unique_ptr<Shard>& shard : shards_) {
        const MutexLock lock(shard->mutex);
        if (shard->state == State::rebuilding) {
            shard->missed_deletions.emplace_back(event.name, event.topic_id);
            continue;
        }
        shard->core->topic_deleted(event, now, shard->effects);
        settle(*shard, turn, now, std::nullopt);
        if (shard->state == State::rebuilding) {
            shard->missed_deletions.emplace_back(event.name, event.topic_id);
        }
    }
}

template <coordination::CoordinatorCore Core>
void CoordinatorShards<Core>::tick(logs::Turn& turn, Now now) {
    if (!is_attached()) {
        return;
    }
    for (const std::unique_ptr<Shard>& shard : shards_) {
        if (shard->deadline_ms.load(std::memory_order_relaxed) > now.monotonic.value) {
            continue;
        }
        const MutexLock lock(shard->mutex);
        shard->core->tick(now, shard->effects);
        on_timer(shard->effects.records);
        settle(*shard, &turn, now, std::nullopt);
    }
}

template <coordination::CoordinatorCore Core>
void CoordinatorShards<Core>::run_due_timers(Shard& shard, logs::Turn& turn) {
    if (shard.deadline_ms.load(std::memory_order_relaxed) > turn.now().monotonic.value) {
        return;
    }
    shard.core->tick(turn.now(), shard.effects);
    on_timer(shard.effects.records);
    settle(shard, &turn, turn.now(), std::nullopt);
}

template <coordination::CoordinatorCore Core>
std::optional<Instant> CoordinatorShards<Core>::next_deadline() const {
    if (!is_attached()) {
        return std::nullopt;
    }
    std::int64_t next = kNoCoordinatorDeadlineMs;
    for (const std::unique_ptr<Shard>& shard : shards_) {
        next = std::min(next, shard->deadline_ms.load(std::memory_order_relaxed));
    }
    if (next == kNoCoordinatorDeadlineMs) {
        return std::nullopt;
    }
    return Instant{next};
}

template <coordination::CoordinatorCore Core>
void CoordinatorShards<Core>::fail_waiting(logs::Turn& turn) {
    if (!is_attached()) {
        return;
    }
    for (const std::unique_ptr<Shard>& shard : shards_) {
        const MutexLock lock(shard->mutex);
        shard->core->fail_waiting(ErrorCode::not_coordinator, shard->effects);
        settle(*shard, &turn, turn.now(), std::nullopt);
    }
}

template <coordination::CoordinatorCore Core>
bool CoordinatorShards<Core>::settle_records(Shard& shard, logs::Turn* turn, Now now) {
    PARTITA_ASSERT(shard.effects.replies.empty() && shard.effects.writes.empty(), "nothing but records is settled here");
    const bool persisted = shard.state != State::rebuilding && (shard.effects.records.empty() || persist(shard, turn, now));
    if (!persisted) {
        throw_away(shard, now);
    }
    shard.effects.clear();
    update_deadline(shard);
    return persisted;
}

template <coordination::CoordinatorCore Core>
std::optional<typename Core::Result> CoordinatorShards<Core>::settle(Shard& shard, logs::Turn* turn, Now now,
                                                                     std::optional<ReplyToken> own) {
    std::optional<Result> result;
    // At most twice: a core that hears of its writes may ask for effects, but not for more writes.
    for (bool is_told = false;; is_told = true) {
        if (shard.state != State::serving || (!shard.effects.records.empty() && !persist(shard, turn, now))) {
            throw_away(shard, now);
            break;
        }
        PARTITA_ASSERT(shard.effects.writes.empty() || !is_told, "a core that hears of its writes asks for no more");
        std::vector<coordination::OutwardWriteOutcome> outcomes;
        if (!shard.effects.writes.empty()) {
            outcomes = carry_out_writes(shard, turn, now);
        }
        for (AnyReply& reply : shard.effects.replies) {
            if (own && reply.token == *own) {
                result = std::move(reply.result);
            } else {
                send(shard, reply);
            }
        }
        if (outcomes.empty()) {
            break;
        }
        shard.effects.clear();
        if constexpr (coordination::WritesOutward<Core>) {
            shard.core->written(outcomes, now, shard.effects);
        }
    }
    shard.effects.clear();
    update_deadline(shard);
    return result;
}

template <coordination::CoordinatorCore Core>
std::vector<coordination::OutwardWriteOutcome> CoordinatorShards<Core>::carry_out_writes(Shard& shard, logs::Turn* turn,
                                                                                         Now now) {
    PARTITA_ASSERT(coordination::WritesOutward<Core> && around_.outward_writes != nullptr,
                   "only a core that hears what became of its writes asks for some");
    PARTITA_ASSERT(shard.effects.writes.size() <= coordination::kOutwardWritesMax, "a core asks for so many writes at once");
    std::vector<coordination::OutwardWriteOutcome> outcomes =
        around_.outward_writes->carry_out(shard.effects.writes, turn, now.wall);
    around_.upkeep.data_written();
    return outcomes;
}

template <coordination::CoordinatorCore Core>
bool CoordinatorShards<Core>::persist(Shard& shard, logs::Turn* turn, Now now) {
    // One per thread and not per shard: the memory written last is still in the processor's cache.
    thread_local CoordinatorBatchMemory memory;
    if (shard.state != State::serving) {
        return false;
    }
    PARTITA_ASSERT(!shard.effects.records.empty(), "a batch holds a record");
    memory.batch.clear();
    BatchOptions options;
    if (shard.effects.transaction) {
        options.producer_id = shard.effects.transaction->producer_id;
        options.producer_epoch = shard.effects.transaction->producer_epoch;
        options.transactional = true;
    }
    memory.builder.reset(options);
    for (const typename Core::Record& record : shard.effects.records) {
        if (const auto added = Core::encode(record, now.wall, memory.scratch, memory.builder); !added) {
            log::error("coordinators", "refused a change: its record is too large for the log",
                       {{"log", shard.partition->log->directory_name()}, {"reason", to_string(added.error().failure)}});
            return false;
        }
    }
    PARTITA_ASSERT(std::cmp_equal(memory.builder.record_count(), shard.effects.records.size()),
                   "each record of a core is one of the log: all of them are kept together");
    memory.builder.build(memory.batch);
    const auto appended = shard.partition->log->append(memory.batch, append_context(shard, now));
    if (!appended) {
        around_.failures.coordinator_append_failed(shard.partition->log->directory_name(), appended.error().message);
        return false;
    }
    shard.version.fetch_add(1, std::memory_order_release);
    on_persisted(shard.effects.records);
    if (turn != nullptr) {
        turn->appended(*shard.partition, memory.batch.size());
    } else {
        // Outside a reactor: notify waiting readers through the reactors.
        around_.turns.post_change(*shard.partition);
    }
    around_.upkeep.data_written();
    if (memory.batch.capacity() > CoordinatorBatchMemory::kKeptBytes) {
        memory = CoordinatorBatchMemory();
    }
    return true;
}

template <coordination::CoordinatorCore Core>
AppendContext CoordinatorShards<Core>::append_context(const Shard& shard, Now now) const {
    AppendContext context{.leader_epoch = shard.partition->leader_epoch(), .now = now.wall};
    if (shard.effects.transaction) {
        context.origin = AppendOrigin::coordinator;
        context.verification = shard.verification;
    }
    return context;
}

template <coordination::CoordinatorCore Core>
void CoordinatorShards<Core>::write_markers(const logs::Partition& partition, std::span<const coordination::OutwardWrite> markers,
                                            TimestampMs now, std::span<ErrorCode> errors) {
    if constexpr (coordination::TakesPartInTransactions<Core>) {
        const auto index = static_cast<std::size_t>(markers.front().partition.value);
        if (!is_attached() || index >= shards_.size()) {
            std::ranges::fill(errors, ErrorCode::not_leader_or_follower);
            return;
        }
        Shard& shard = *shards_[index];
        const MutexLock lock(shard.mutex);
        if (shard.state != State::serving || shard.partition.get() != &partition) {
            // The thread that rebuilds the shard reads the log at this moment.
            std::ranges::fill(errors, ErrorCode::not_leader_or_follower);
            return;
        }
        append_together(partition, markers, now, errors);
        // Before readers are notified: they then see that they must look, and wait for the lock.
        shard.version.fetch_add(1, std::memory_order_release);
        for (std::size_t i = 0; i < markers.size(); ++i) {
            if (errors[i] == ErrorCode::none) {
                PARTITA_ASSERT(markers[i].ends, "only markers are written into the topic of coordinators");
                end_transaction(*shard.core, markers[i].ends->producer_id, markers[i].ends->is_commit);
            }
        }
        update_deadline(shard);
    } else {
        // Markers mean nothing to such a core. But they end a client's transaction that is open in its log, so that the records
        // behind it can be folded. The log has its own lock. The caller may hold this shard's lock, or another one's.
        append_together(partition, markers, now, errors);
    }
}

template <coordination::CoordinatorCore Core>
void CoordinatorShards<Core>::throw_away(Shard& shard, Now now) {
    // No client was told about the lost effects. Clients that wait, and clients whose replies were in the lost effects, find
    // their coordinator again and repeat the request.
    turn_away(shard);
    for (AnyReply& reply : shard.effects.replies) {
        if (shard.waiting.contains(reply.token.value)) {
            std::visit(
                [](auto& result) {
                    if constexpr (requires { result.error; }) {
                        result = {};
                        result.error = ErrorCode::not_coordinator;
                    }
                },
                reply.result);
            send(shard, reply);
        }
    }
    const bool is_news = shard.state == State::serving;
    make_empty(shard, is_news ? State::rebuilding : shard.state, now);
    if (is_news) {
        around_.upkeep.coordinator_lost();
    }
}

template <coordination::CoordinatorCore Core>
void CoordinatorShards<Core>::turn_away(Shard& shard) {
    typename Core::Effects failed;
    shard.core->fail_waiting(ErrorCode::not_coordinator, failed);
    for (AnyReply& reply : failed.replies) {
        send(shard, reply);
    }
}

template <coordination::CoordinatorCore Core>
void CoordinatorShards<Core>::send(Shard& shard, AnyReply& reply) {
    const auto found = shard.waiting.find(reply.token.value);
    if (found == shard.waiting.end()) {
        return;
    }
    Waiting waiting = std::move(found->second);
    shard.waiting.erase(found);
    around_.turns.deliver(waiting.target, waiting.encode(reply.result));
}

template <coordination::CoordinatorCore Core>
void CoordinatorShards<Core>::update_deadline(Shard& shard) {
    const std::optional<Instant> deadline = shard.core->next_deadline();
    const std::int64_t deadline_ms = deadline ? deadline->value : kNoCoordinatorDeadlineMs;
    const std::int64_t before = shard.deadline_ms.exchange(deadline_ms, std::memory_order_relaxed);
    if (deadline_ms < before) {
        around_.turns.first_reactor().wake_at(Instant{deadline_ms});
    }
}

}  // namespace partita::runtime
