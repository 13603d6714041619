#include "broker/runtime/upkeep/maintenance.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "broker/config/log_setup.h"
#include "broker/runtime/coordinators/coordinator_host.h"
#include "broker/runtime/fences/fences.h"
#include "broker/runtime/loop/fail_stop.h"
#include "broker/runtime/loop/upkeep_bell.h"
#include "broker/runtime/partitions/published_topics.h"
#include "broker/runtime/partitions/turns.h"
#include "broker/runtime/upkeep/keyed_logs.h"
#include "broker/topics/internal_topics.h"

namespace partita::runtime {

Maintenance::~Maintenance() { stop(); }

void Maintenance::start() {
    const Instant now = around_.schedule.clock.now().monotonic;
    next_retention_ = now + around_.config->log_initial_task_delay_ms;
    next_expiry_ = now + around_.config->producer_id_expiration_check_interval_ms;
    next_rebuild_ = now;
    // An earlier run may have left directories to unlink, and, when it was killed, unsynced data.
    purge_.note(now, 0);
    if (!around_.logs.open_report().was_clean) {
        // Soon, so that a second crash does not repeat what was read just now.
        if (!around_.logs.open_report().partitions.empty()) {
            checkpoint_.note(now, kBackgroundSyncMs);
        }
        note_writes(now);
    }
    worker_ = around_.schedule.executor.start("upkeep", [this] { return step(); });
    around_.bell.listen(worker_.get());
}

void Maintenance::stop() {
    around_.bell.listen(nullptr);
    worker_.reset();
}

Instant Maintenance::next_due() const {
    Instant next = std::min({next_retention_, next_expiry_, around_.fences.next_upkeep()});
    for (const Job* job : {&sync_, &look_, &short_flush_, &fold_, &purge_, &checkpoint_, &rebuild_}) {
        const bool waits = job == &checkpoint_ && checkpoint_running_;
        if (job->pending && !waits) {
            next = std::min(next, job->due);
        }
    }
    return next;
}

void Maintenance::note_writes(Instant now) {
    sync_.note(now, kBackgroundSyncMs);
    look_.note(now, kLookMs);
    fold_.note(now, kFoldMs);
    purge_.note(now, kBackgroundSyncMs);
    checkpoint_.note(now, around_.config->log_flush_offset_checkpoint_interval_ms);
    find_short_flushes();
    if (!short_flush_topics_.empty()) {
        short_flush_.note(now, shortest_flush_ms_);
    }
}

Instant Maintenance::step() {
    const UpkeepBell::Heard heard = around_.bell.take_heard();
    std::optional<StorageResult<void>> checkpointed;
    if (heard.flusher_done) {
        const MutexLock lock(mutex_);
        checkpointed = std::exchange(checkpointed_, {});
    }
    const Now now = around_.schedule.clock.now();
    if (checkpointed) {
        finish_checkpoint(*checkpointed, now.monotonic);
    }
    if (heard.log_start_moved) {
        checkpoint_ = {.pending = true, .due = now.monotonic};
    }
    if (heard.coordinator_lost) {
        rebuild_ = {.pending = true, .due = std::max(now.monotonic, next_rebuild_)};
    }
    // Taken only where it matters: what was not taken wakes nobody again, however much is produced.
    if ((hears_writes() || next_due() <= now.monotonic) && around_.bell.take_writes()) {
        note_writes(now.monotonic);
    }
    run_due(now);
    return hears_writes() && around_.bell.has_writes() ? kAtOnce : next_due();
}

void Maintenance::run_due(Now now) {
    // First, as clients wait for it.
    if (rebuild_.is_due(now.monotonic)) {
        rebuild_coordinators(now.monotonic);
    }
    if (short_flush_.is_due(now.monotonic)) {
        sync_short_flushes(now.monotonic);
    }
    if (sync_.is_due(now.monotonic)) {
        sync_in_background(now.monotonic);
    }
    if (look_.is_due(now.monotonic)) {
        checkpoint_if_much(now.monotonic);
    }
    if (purge_.is_due(now.monotonic)) {
        purge(now.monotonic);
    }
    if (fold_.is_due(now.monotonic)) {
        run_fold(now.monotonic);
    }
    around_.fences.upkeep(now);
    if (next_retention_ <= now.monotonic) {
        apply_retention(now);
        next_retention_ = now.monotonic + around_.config->log_retention_check_interval_ms;
    }
    if (next_expiry_ <= now.monotonic) {
        expire_producers(now);
        next_expiry_ = now.monotonic + around_.config->producer_id_expiration_check_interval_ms;
    }
    if (checkpoint_.is_due(now.monotonic) && !checkpoint_running_) {
        begin_checkpoint();
    }
}

void Maintenance::sync_in_background(Instant now) {
    if (const auto failure = around_.flusher.failure()) {
        fail_stop(*failure);
    }
    std::vector<std::shared_ptr<PartitionLog>> logs = around_.logs.logs_to_sync();
    // One more round after the last write sees whether the flusher could do it.
    sync_ = {.pending = !logs.empty(), .due = now + kBackgroundSyncMs};
    // A checkpoint syncs them too.
    if (!checkpoint_if_much(now) && !logs.empty()) {
        around_.flusher.request_background_sync(around_.logs.volume(), std::move(logs));
    }
}

bool Maintenance::checkpoint_if_much(Instant now) {
    // While there is something to sync there may be more.
    look_ = {.pending = sync_.pending, .due = now + kLookMs};
    if (checkpoint_running_ || checkpoint_failed_ || around_.logs.bytes_since_checkpoint() < kCheckpointBytes) {
        return false;
    }
    checkpoint_ = {.pending = true, .due = now};
    return true;
}

void Maintenance::find_short_flushes() {
    const std::uint64_t version = around_.topics.version();
    if (version == short_flush_version_) {
        return;
    }
    short_flush_version_ = version;
    short_flush_topics_.clear();
    shortest_flush_ms_ = kBackgroundSyncMs;
    const std::shared_ptr<const TopicTable> table = around_.topics.table();
    table->for_each([&](const TopicState& state) {
        if (state.config->flush_ms < kBackgroundSyncMs) {
            short_flush_topics_.push_back(table->share(state.topic->id));
            shortest_flush_ms_ = std::min(shortest_flush_ms_, std::max(kShortestFlushMs, state.config->flush_ms));
        }
    });
}

void Maintenance::sync_short_flushes(Instant now) {
    find_short_flushes();
    std::vector<std::shared_ptr<PartitionLog>> logs;
    for (const std::shared_ptr<const TopicState>& topic : short_flush_topics_) {
        for (const std::shared_ptr<Partition>& partition : topic->partitions) {
            if (partition->log->has_unsynced_data()) {
                logs.push_back(partition->log);
            }
        }
    }
    short_flush_ = {.pending = !logs.empty(), .due = now + shortest_flush_ms_};
    if (!logs.empty()) {
        around_.flusher.request_background_sync(around_.logs.volume(), std::move(logs));
    }
}

void Maintenance::purge(Instant now) {
    auto purged = around_.logs.purge_removed();
    if (purged && around_.bell.take_deletion()) {
        purged = around_.keyed_logs.forget_deleted();
        if (!purged) {
            around_.bell.topic_deleted();
        }
    }
    purge_ = {.pending = !purged, .due = now + kFoldMs};
    if (!purged) {
        if (purged.error().kind == StorageError::Kind::sync_failed) {
            fail_stop(purged.error());
        }
        log::warning("storage", "space of deleted topics is not free yet", {{"reason", purged.error().message}});
    }
}

void Maintenance::fold() { run_fold(around_.schedule.clock.now().monotonic); }

void Maintenance::run_fold(Instant now) {
    const auto folded = around_.keyed_logs.fold();
    fold_ = {.pending = !folded, .due = now + kFoldMs};
    if (!folded) {
        if (folded.error().kind == StorageError::Kind::sync_failed) {
            fail_stop(folded.error());
        }
        log::warning("storage", "a checkpoint was put off", {{"reason", folded.error().message}});
    }
}

void Maintenance::rebuild_coordinators(Instant now) {
    next_rebuild_ = now + kRebuildPauseMs;
    // A rebuild may write to the store.
    const bool is_done = around_.keyed_logs.while_nobody_writes([&] {
        bool all_rebuilt = true;
        for (const auto& [kind, host] : around_.coordinators.all()) {
            all_rebuilt = host->rebuild_lost() && all_rebuilt;
        }
        return all_rebuilt;
    });
    rebuild_ = {.pending = !is_done, .due = now + kBackgroundSyncMs};
}

void Maintenance::apply_retention(Now now) {
    const std::shared_ptr<const TopicTable> table = around_.topics.table();
    table->for_each([&](const TopicState& state) {
        const bool is_keyed = topics::holds_coordinators(state.topic->name);
        for (const std::shared_ptr<Partition>& partition : state.partitions) {
            PartitionLog& partition_log = *partition->log;
            if (!partition_log.has_files()) {
                continue;
            }
            Offset keep_from{std::numeric_limits<std::int64_t>::max()};
            if (is_keyed) {
                // Whatever its cleanup.policy was altered to: what LMDB does not have yet must stay.
                keep_from = around_.keyed_logs.folded_until(partition_log);
            }
            const auto removed = partition_log.apply_retention(now.wall, keep_from);
            if (!removed) {
                log::warning("storage", "retention failed",
                             {{"partition", partition_log.directory_name()}, {"reason", removed.error().message}});
            } else if (!removed->empty()) {
                log::info("storage", "retention removed segments",
                          {{"partition", partition_log.directory_name()},
                           {"segments", removed->size()},
                           {"log_start_offset", partition_log.log_start_offset().value}});
                around_.turns.post_change(*partition);
                checkpoint_.note(now.monotonic, around_.config->log_flush_offset_checkpoint_interval_ms);
            }
        }
    });
}

void Maintenance::expire_producers(Now now) {
    const std::shared_ptr<const TopicTable> table = around_.topics.table();
    table->for_each([&](const TopicState& state) {
        for (const std::shared_ptr<Partition>& partition : state.partitions) {
            if (partition->log->has_files()) {
                partition->log->expire_producers(now.wall);
            }
        }
    });
}

void Maintenance::begin_checkpoint() {
    checkpoint_.pending = false;
    checkpoint_running_ = true;
    around_.flusher.request_checkpoint(around_.logs.volume(), around_.logs.logs_to_checkpoint(),
                                       [this](const StorageResult<void>& checkpointed) {
                                           {
                                               const MutexLock lock(mutex_);
                                               checkpointed_ = checkpointed;
                                           }
                                           around_.bell.flusher_done();
                                       });
}

void Maintenance::finish_checkpoint(const StorageResult<void>& checkpointed, Instant now) {
    checkpoint_running_ = false;
    bool done = checkpointed.has_value();
    if (!done) {
        if (checkpointed.error().kind == StorageError::Kind::sync_failed) {
            fail_stop(checkpointed.error());
        }
        log::warning("storage", "checkpoint of a log failed", {{"reason", checkpointed.error().message}});
    }
    if (auto written = around_.logs.write_checkpoints(); !written) {
        done = false;
        log::warning("storage", "checkpoint files were not written", {{"reason", written.error().message}});
    }
    checkpoint_failed_ = !done;
    // At least so long, lest an interval of 0 and a full disk keep the thread busy.
    const std::int64_t interval_ms = around_.config->log_flush_offset_checkpoint_interval_ms;
    if (done) {
        checkpoint_if_much(now);
    } else {
        checkpoint_ = {.pending = true, .due = now + std::max(kBackgroundSyncMs, interval_ms)};
    }
}

}  // namespace partita::runtime
