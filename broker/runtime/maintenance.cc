#include "broker/runtime/maintenance.h"

#include <algorithm>
#include <chrono>

#include "broker/runtime/broker.h"
#include "broker/runtime/clock.h"

namespace partita::runtime {

Maintenance::Maintenance(Broker& broker) : broker_(broker) {}

Maintenance::~Maintenance() { stop(); }

void Maintenance::start() {
    const Instant now = read_clock().monotonic;
    const auto config = broker_.config();
    next_sync_ = now;
    next_fold_ = now + kFoldMs;
    next_retention_ = now + config->log_initial_task_delay_ms;
    next_checkpoint_ = now + config->log_flush_offset_checkpoint_interval_ms;
    thread_ = std::thread([this] { run(); });
}

void Maintenance::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void Maintenance::wake() {
    if (woken_.exchange(true, std::memory_order_acq_rel)) {
        return;
    }
    // The empty critical section keeps the notification from falling between the sleeper's look at
    // woken_ and its sleep.
    { const std::scoped_lock lock(mutex_); }
    wake_.notify_one();
}

void Maintenance::checkpoint_soon() {
    {
        const std::scoped_lock lock(mutex_);
        checkpoint_soon_ = true;
    }
    wake_.notify_one();
}

void Maintenance::run() {
    bool dirty = false;
    while (true) {
        {
            std::unique_lock lock(mutex_);
            // Without writes only retention has a reason to run.
            const Instant next = dirty ? std::min({next_sync_, next_fold_, next_retention_, next_checkpoint_})
                                       : next_retention_;
            const auto wake_time = std::chrono::steady_clock::time_point(std::chrono::milliseconds(next.value));
            wake_.wait_until(lock, wake_time, [&] { return stopping_ || checkpoint_soon_ || (woken_ && !dirty); });
            if (stopping_) {
                return;
            }
            if (checkpoint_soon_) {
                checkpoint_soon_ = false;
                next_checkpoint_ = Instant{0};
            }
            if (woken_) {
                woken_ = false;
                if (!dirty) {
                    dirty = true;
                    const Instant now = read_clock().monotonic;
                    next_sync_ = now + kBackgroundSyncMs;
                    next_fold_ = std::max(next_fold_, now + kFoldMs);
                    continue;
                }
            }
        }
        const Now now = read_clock();
        const bool checkpointed = dirty && next_checkpoint_ <= now.monotonic;
        run_due(now);
        // After a checkpoint with nothing written since, there is nothing left to do until the next write.
        if (checkpointed && broker_.logs().logs_to_sync().empty()) {
            const std::scoped_lock lock(mutex_);
            dirty = woken_;
            woken_ = false;
        }
    }
}

void Maintenance::run_due(Now now) {
    const auto config = broker_.config();
    if (next_sync_ <= now.monotonic) {
        sync_in_background();
        if (auto purged = broker_.logs().purge_removed(); !purged) {
            log::warning("storage", "space of deleted topics is not free yet", {{"reason", purged.error().message}});
        }
        next_sync_ = now.monotonic + kBackgroundSyncMs;
    }
    if (next_fold_ <= now.monotonic) {
        fold();
        next_fold_ = now.monotonic + kFoldMs;
    }
    if (next_retention_ <= now.monotonic) {
        apply_retention(now);
        next_retention_ = now.monotonic + config->log_retention_check_interval_ms;
    }
    if (next_checkpoint_ <= now.monotonic) {
        write_checkpoints();
        next_checkpoint_ = now.monotonic + config->log_flush_offset_checkpoint_interval_ms;
    }
}

void Maintenance::sync_in_background() {
    for (std::shared_ptr<PartitionLog>& log : broker_.logs().logs_to_sync()) {
        broker_.flusher().request_background_sync(std::move(log));
    }
    if (const auto failure = broker_.flusher().failure()) {
        broker_.fail_stop(*failure);
    }
}

void Maintenance::fold() {
    const auto folded = fold_keyed_logs(broker_.keyed_logs(), broker_.metadata_store());
    if (!folded) {
        if (folded.error().kind == StorageError::Kind::sync_failed) {
            broker_.fail_stop(folded.error());
        }
        log::warning("storage", "a checkpoint was put off", {{"reason", folded.error().message}});
    }
}

void Maintenance::apply_retention(Now now) {
    const std::shared_ptr<const TopicTable> table = broker_.topic_table();
    table->for_each([&](const TopicState& state) {
        for (const std::shared_ptr<Partition>& partition : state.partitions) {
            if (!partition->log->has_files()) {
                continue;
            }
            partition->log->expire_producers(now.wall);
            const auto removed = partition->log->apply_retention(now.wall);
            if (!removed) {
                log::warning("storage", "retention failed",
                             {{"partition", partition->log->directory_name()}, {"reason", removed.error().message}});
            } else if (!removed->empty()) {
                log::info("storage", "retention removed segments",
                          {{"partition", partition->log->directory_name()},
                           {"segments", removed->size()},
                           {"log_start_offset", partition->log->log_start_offset().value}});
                broker_.post_change(*partition);
            }
        }
    });
}

void Maintenance::write_checkpoints() {
    for (const std::shared_ptr<PartitionLog>& log : broker_.logs().logs_to_sync()) {
        if (auto done = log->checkpoint(); !done) {
            if (done.error().kind == StorageError::Kind::sync_failed) {
                broker_.fail_stop(done.error());
            }
            partita::log::warning("storage", "checkpoint of a log failed",
                                  {{"log", log->directory_name()}, {"reason", done.error().message}});
        }
    }
    if (auto written = broker_.logs().write_checkpoints(); !written) {
        log::warning("storage", "checkpoint files were not written", {{"reason", written.error().message}});
    }
}

}  // namespace partita::runtime
