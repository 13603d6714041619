#include "broker/runtime/upkeep/background_sync.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "broker/config/log_setup.h"
#include "broker/runtime/loop/fail_stop.h"

namespace partita::runtime {

void BackgroundSync::begin(Instant now) {
    // Checkpoint soon, so that a second crash does not make the start read the same data again.
    if (!logs_.open_report().was_clean && !logs_.open_report().partitions.empty()) {
        checkpoint_.note(now, kIntervalMs);
    }
}

Instant BackgroundSync::next_due() const {
    return std::min({sync_.next(), look_.next(), checkpoint_running_ ? kNever : checkpoint_.next()});
}

void BackgroundSync::hear(const UpkeepBell::Heard& heard, Instant now) {
    if (heard.flusher_done) {
        std::optional<StorageResult<void>> checkpointed;
        {
            const MutexLock lock(mutex_);
            checkpointed = std::exchange(checkpointed_, {});
        }
        if (checkpointed) {
            finish_checkpoint(*checkpointed, now);
        }
    }
    if (heard.log_start_moved) {
        checkpoint_ = {.pending = true, .due = now};
    }
}

void BackgroundSync::note_writes(Instant now) {
    sync_.note(now, kIntervalMs);
    look_.note(now, kLookMs);
    checkpoint_.note(now, config_->log_flush_offset_checkpoint_interval_ms);
}

void BackgroundSync::run_due(Now now) {
    if (sync_.is_due(now.monotonic)) {
        sync(now.monotonic);
    }
    if (look_.is_due(now.monotonic)) {
        checkpoint_if_much(now.monotonic);
    }
    if (checkpoint_.is_due(now.monotonic) && !checkpoint_running_) {
        begin_checkpoint();
    }
}

void BackgroundSync::sync(Instant now) {
    if (const auto failure = flusher_.failure()) {
        fail_stop(*failure);
    }
    std::vector<std::shared_ptr<PartitionLog>> logs = logs_.logs_to_sync();
    // One more round after the last write checks whether the flusher succeeded.
    sync_ = {.pending = !logs.empty(), .due = now + kIntervalMs};
    // A checkpoint syncs the logs as well.
    if (!checkpoint_if_much(now) && !logs.empty()) {
        flusher_.request_background_sync(logs_.volume(), std::move(logs));
    }
}

bool BackgroundSync::checkpoint_if_much(Instant now) {
    // Look again soon: while logs need a sync, more data may come.
    look_ = {.pending = sync_.pending, .due = now + kLookMs};
    if (checkpoint_running_ || checkpoint_failed_ || logs_.bytes_since_checkpoint() < kCheckpointBytes) {
        return false;
    }
    checkpoint_ = {.pending = true, .due = now};
    return true;
}

void BackgroundSync::begin_checkpoint() {
    checkpoint_.pending = false;
    checkpoint_running_ = true;
    flusher_.request_checkpoint(logs_.volume(), logs_.logs_to_checkpoint(), [this](const StorageResult<void>& checkpointed) {
        {
            const MutexLock lock(mutex_);
            checkpointed_ = checkpointed;
        }
        bell_.flusher_done();
    });
}

void BackgroundSync::finish_checkpoint(const StorageResult<void>& checkpointed, Instant now) {
    checkpoint_running_ = false;
    bool done = checkpointed.has_value();
    if (!done) {
        if (checkpointed.error().kind == StorageError::Kind::sync_failed) {
            fail_stop(checkpointed.error());
        }
        log::warning("storage", "could not write the checkpoint of a log", {{"reason", checkpointed.error().message}});
    }
    if (auto written = logs_.write_checkpoints(); !written) {
        done = false;
        log::warning("storage", "could not write the checkpoint files", {{"reason", written.error().message}});
    }
    checkpoint_failed_ = !done;
    // Wait at least this long. Otherwise an interval of 0 and a full disk keep the thread busy.
    const std::int64_t interval_ms = config_->log_flush_offset_checkpoint_interval_ms;
    if (done) {
        checkpoint_if_much(now);
    } else {
        checkpoint_ = {.pending = true, .due = now + std::max(kIntervalMs, interval_ms)};
    }
}

}  // namespace partita::runtime
