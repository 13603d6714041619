#include "broker/logs/appender.h"

#include <atomic>
#include <limits>
#include <memory>
#include <utility>

#include "broker/catalog/internal_topics.h"
#include "broker/logs/batch_rules.h"
#include "broker/logs/topic_table.h"
#include "broker/logs/turn.h"
#include "broker/runtime/loop/counters.h"
#include "broker/runtime/loop/fail_stop.h"
#include "broker/runtime/loop/failure_log.h"
#include "broker/runtime/loop/upkeep_bell.h"
#include "protocol/assert.h"
#include "storage/log_flusher.h"

namespace partita::logs {
namespace {

/// The syncs of one request, and the function that runs when all have ended.
struct SyncWait {
    std::atomic<std::size_t> outstanding;
    std::atomic<bool> failed = false;
    std::move_only_function<void(bool)> then;

    void finish_one(bool is_synced) {
        if (!is_synced) {
            failed.store(true, std::memory_order_relaxed);
        }
        if (outstanding.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            then(!failed.load(std::memory_order_relaxed));
        }
    }
};

/// True if the topic requires a sync before this append may be acknowledged.
bool asks_for_sync(const Append& append) {
    const std::int64_t limit = append.topic->config->flush_messages;
    if (limit == std::numeric_limits<std::int64_t>::max()) {
        return false;
    }
    std::atomic<std::int64_t>& unsynced = append.partition->unsynced_records;
    if (unsynced.fetch_add(append.record_count, std::memory_order_relaxed) + append.record_count < limit) {
        return false;
    }
    unsynced.store(0, std::memory_order_relaxed);
    return true;
}

StepTraits traits_of(const AppendRequest& request) {
    return {.is_transactional = request.transaction.has_value(),
            .is_counted = request.client.usage != nullptr,
            .is_first = request.is_first};
}

bool may_write(const AppendRequest& request, const catalog::Topic& topic) {
    return !topic.internal || (request.is_administrators && catalog::takes_records_of_administrators(topic.name));
}

}  // namespace

bool Appender::append(Turn& turn, AppendRequest& request) {
    PARTITA_ASSERT(request.listener != nullptr, "somebody hears how an append ends");
    request.appender = this;
    request.steps = steps_.passed_by(traits_of(request));
    Outcome admission = Outcome::ok;
    steps_.each(request.steps, AppendPoint::admit, [&](AppendStep& step) {
        admission = step.admit(request, turn);
        return admission == Outcome::ok;
    });
    if (admission != Outcome::ok) {
        refuse(turn, request, admission);
        return false;
    }
    for (Append& append : request.appends) {
        if (append.outcome == Outcome::ok) {
            append.outcome = request.dismissal == Outcome::ok ? stage(turn, request, append) : request.dismissal;
        }
        if (append.outcome == Outcome::ok) {
            ++request.staged_count;
        } else {
            ++request.failed_count;
            parts_.counters.failed_produces.fetch_add(1, std::memory_order_relaxed);
        }
    }
    steps_.each(request.steps, AppendPoint::settle, [&](AppendStep& step) {
        step.settle(request, turn);
        return true;
    });
    request.client.connection = nullptr;
    turn.write_at_end(request);
    return true;
}

void Appender::refuse(Turn& turn, AppendRequest& request, Outcome outcome) {
    if (request.appender == nullptr) {
        request.steps = steps_.passed_by(traits_of(request));
    }
    request.refusal = outcome;
    for (Append& append : request.appends) {
        append.outcome = outcome;
    }
    request.client.connection = nullptr;
    steps_.each(request.steps, AppendPoint::tell, [&](AppendStep& step) {
        step.tell(request, turn);
        return true;
    });
}

Outcome Appender::stage(Turn& turn, const AppendRequest& request, Append& append) {
    const TopicState& topic = *append.topic;
    if (!may_write(request, *topic.topic)) {
        return Outcome::internal_topic;
    }
    Outcome refusal = Outcome::ok;
    const auto admit = [&](AppendStep& step) {
        refusal = step.admit_batch(request, append, turn);
        return refusal == Outcome::ok;
    };
    steps_.each(request.steps, AppendPoint::admit_batch, admit);
    if (topic.steps != nullptr && refusal == Outcome::ok) {
        topic.steps->each_append(admit);
    }
    if (refusal == Outcome::not_enough_replicas) {
        append.log_start = append.partition->log->log_start_offset();
    }
    if (refusal != Outcome::ok) {
        return refusal;
    }
    const ProduceRules rules = batch_rules(*topic.config, turn.now().wall, request.knows_zstd);
    std::expected<ProducedBatch, ProduceFailure> produced = validate_produced_batch(append.batch, rules);
    if (!produced) {
        if (reaches_the_log(produced.error().error)) {
            append.log_start = append.partition->log->log_start_offset();
        }
        append.invalid = std::make_unique<InvalidBatch>(std::move(produced.error()), rules);
        return Outcome::invalid_batch;
    }
    return put_into_log(turn, request, append, *produced, rules.timestamp_type);
}

Outcome Appender::put_into_log(Turn& turn, const AppendRequest& request, Append& append, const ProducedBatch& produced,
                               TimestampType timestamps) {
    const TopicState& topic = *append.topic;
    PartitionLog& log = *append.partition->log;
    const TimestampMs now = turn.now().wall;
    // Copy the header before the batch changes, because it refers to the request's memory.
    const BatchHeader header = produced.batch.header;
    const auto stored = bytes_to_store(append.batch, produced, *topic.config, turn.arena());
    if (!stored) {
        return Outcome::malformed_batch;
    }
    if (produced.changes_timestamps()) {
        patch_max_timestamp(*stored, produced.timestamp_type, produced.max_timestamp);
    }
    append.batch = *stored;
    append.record_count = header.record_count;
    const auto mark = [&](AppendStep& step) {
        step.before_staging(request, append, header, turn);
        return true;
    };
    steps_.each(request.steps, AppendPoint::before_staging, mark);
    if (topic.steps != nullptr) {
        topic.steps->each_append(mark);
    }
    auto staged = log.stage(append.batch,
                            {.leader_epoch = append.partition->leader_epoch(), .now = now, .verification = append.verification});
    if (!staged) {
        const AppendFailure failure = staged.error().failure;
        if (failure != AppendFailure::storage_error && failure != AppendFailure::closed) {
            append.log_start = log.log_start_offset();
        }
        return outcome_of(failure);
    }
    turn.mark_dirty(*append.partition);
    append.is_staged = true;
    append.staged = std::move(*staged);
    // The timestamp type does not matter for a duplicate: Kafka keeps one timestamp of a duplicate batch and answers with it.
    append.append_time = append.staged.duplicate                        ? append.staged.duplicate_timestamp
                         : timestamps == TimestampType::log_append_time ? now
                                                                        : kNoTimestamp;
    const auto take = [&](AppendStep& step) {
        step.after_staging(request, append, turn);
        return true;
    };
    steps_.each(request.steps, AppendPoint::after_staging, take);
    if (topic.steps != nullptr) {
        topic.steps->each_append(take);
    }
    return Outcome::ok;
}

void Appender::conclude(AppendRequest& request, Turn& turn) {
    std::uint64_t bytes = 0;
    std::uint64_t records = 0;
    for (Append& append : request.appends) {
        if (!append.is_staged) {
            continue;
        }
        if (const auto result = append.staged.result(); !result) {
            append.outcome = outcome_of(result.error().failure);
            if (result.error().failure == AppendFailure::storage_error) {
                parts_.failures.append_failed(result.error().message);
            }
            ++request.failed_count;
            parts_.counters.failed_produces.fetch_add(1, std::memory_order_relaxed);
            continue;
        }
        append.log_start = append.partition->log->log_start_offset();
        if (!append.staged.duplicate) {
            bytes += append.batch.size();
            records += static_cast<std::uint64_t>(append.record_count);
        }
        append.needs_sync = asks_for_sync(append);
        request.sync_count += append.needs_sync ? 1 : 0;
    }
    request.written_bytes = bytes;
    parts_.counters.produced_bytes.fetch_add(bytes, std::memory_order_relaxed);
    parts_.counters.produced_records.fetch_add(records, std::memory_order_relaxed);
    if (request.has_staged()) {
        parts_.upkeep.data_written();
    }
    steps_.each(request.steps, AppendPoint::tell, [&](AppendStep& step) {
        step.tell(request, turn);
        return true;
    });
    request.listener->on_written(request, turn);
}

void Appender::when_synced(const AppendRequest& request, std::move_only_function<void(bool)> then) {
    PARTITA_ASSERT(request.needs_sync(), "some batch needs a sync");
    auto wait = std::make_shared<SyncWait>();
    wait->outstanding = request.sync_count;
    wait->then = std::move(then);
    runtime::FailureLog& failures = parts_.failures;
    for (const Append& append : request.appends) {
        if (!append.needs_sync) {
            continue;
        }
        const bool queued =
            parts_.flusher.request_sync(append.partition->log, [wait, &failures](const StorageResult<Offset>& synced) {
                if (!synced && synced.error().kind == StorageError::Kind::sync_failed) {
                    runtime::fail_stop(synced.error());
                }
                // A topic that was deleted meanwhile has nothing left to sync, so its records need no promise.
                const bool is_gone = !synced && synced.error().kind == StorageError::Kind::closed;
                if (!synced && !is_gone) {
                    failures.append_failed(synced.error().message);
                }
                wait->finish_one(synced.has_value() || is_gone);
            });
        if (!queued) {
            failures.append_failed("too many produce requests wait for a sync");
            wait->finish_one(false);
        }
    }
}

}  // namespace partita::logs
