#include "storage/log_flusher.h"

#include <algorithm>
#include <utility>

#include "protocol/assert.h"
#include "protocol/try.h"
#include "storage/log_sync.h"

namespace partita {

LogFlusher::LogFlusher(Executor& executor) : worker_(executor.start("flusher", [this] { return step(); })) {}

LogFlusher::~LogFlusher() {
    worker_.reset();
    Group dropped;  // Destroyed without the lock.
    const MutexLock lock(mutex_);
    dropped = std::exchange(group_, {});
    while (serve_next()) {
    }
}

bool LogFlusher::request_sync(std::shared_ptr<PartitionLog> log, Callback callback) {
    {
        const MutexLock lock(mutex_);
        if (waiting_count_ >= kMaximumWaiting) {
            return false;
        }
        ++waiting_count_;
        ++counters_.requests;
        const auto [waiting, is_new] = queued_.try_emplace(log.get());
        if (is_new) {
            waiting->second = queue_.insert(queue_.end(), Waiting{std::move(log), {}});
        }
        waiting->second->callbacks.push_back(std::move(callback));
        if (!is_new) {
            return true;  // Another request has woken the worker already.
        }
    }
    worker_->wake();
    return true;
}

void LogFlusher::request_background_sync(Volume& volume, std::vector<std::shared_ptr<PartitionLog>> logs) {
    {
        const MutexLock lock(mutex_);
        add_to_group_locked(volume, std::move(logs));
    }
    worker_->wake();
}

void LogFlusher::request_checkpoint(Volume& volume, std::vector<std::shared_ptr<PartitionLog>> logs,
                                    std::function<void(const StorageResult<void>&)> done) {
    {
        const MutexLock lock(mutex_);
        PARTITA_ASSERT(!group_.checkpoint_done, "one checkpoint at a time");
        add_to_group_locked(volume, std::move(logs));
        group_.checkpoint_done = std::move(done);
    }
    worker_->wake();
}

void LogFlusher::add_to_group_locked(Volume& volume, std::vector<std::shared_ptr<PartitionLog>> logs) {
    if (group_.is_empty()) {
        group_.behind = queue_.size();
    }
    group_.volume = &volume;
    for (std::shared_ptr<PartitionLog>& log : logs) {
        group_.logs.insert(std::move(log));
    }
}

void LogFlusher::drain() {
    Group dropped;  // Destroyed without the lock.
    UniqueLock lock(mutex_);
    dropped = std::exchange(group_, {});
    while (is_serving_ || !queue_.empty()) {
        if (!serve_next()) {
            served_.wait(lock);
        }
    }
    // The worker may have found this thread serving, and left background requests that came meanwhile.
    if (!group_.is_empty()) {
        worker_->wake();
    }
}

std::optional<StorageError> LogFlusher::failure() const {
    const MutexLock lock(mutex_);
    return failure_;
}

LogFlusher::Counters LogFlusher::counters() const {
    const MutexLock lock(mutex_);
    return counters_;
}

Instant LogFlusher::step() {
    const MutexLock lock(mutex_);
    return serve_next() ? kAtOnce : kNever;
}

bool LogFlusher::serve_next() {
    // Only one thread serves at a time, the worker or one in `drain`: a second one would only wait for the same device.
    if (is_serving_ || (queue_.empty() && group_.is_empty())) {
        return false;
    }
    is_serving_ = true;
    if (!group_.is_empty() && (group_.behind == 0 || queue_.empty())) {
        Group group = std::exchange(group_, {});
        mutex_.unlock();
        serve(group);
        // The last owner of a deleted topic's log closes its files, which takes other locks. So this happens without the lock.
        group = {};
        mutex_.lock();
    } else {
        Waiting waiting = std::move(queue_.front());
        queued_.erase(waiting.log.get());
        queue_.pop_front();
        waiting_count_ -= waiting.callbacks.size();
        if (group_.behind > 0) {
            --group_.behind;
        }
        mutex_.unlock();
        serve(waiting);
        waiting = {};
        mutex_.lock();
    }
    is_serving_ = false;
    served_.notify_all();
    return true;
}

StorageResult<bool> LogFlusher::serve_first() {
    if (!first_ || !first_->has_files() || !first_->has_unsynced_data()) {
        return false;
    }
    auto synced = first_->sync();
    if (!synced && synced.error().kind != StorageError::Kind::closed) {
        return std::unexpected(std::move(synced.error()));
    }
    return true;
}

void LogFlusher::serve(const Group& group) {
    std::size_t syncs = group.logs.size();
    const StorageResult<void> result = [&]() -> StorageResult<void> {
        if (const auto failed = failure()) {
            return std::unexpected(*failed);
        }
        PARTITA_TRY_ASSIGN(const auto first, serve_first());
        if (first && !group.logs.contains(first_)) {
            ++syncs;
        }
        std::vector<std::shared_ptr<PartitionLog>> logs(group.logs.begin(), group.logs.end());
        // The order must not depend on addresses: the state after a crash in the middle then follows from earlier events alone.
        std::ranges::sort(logs, [](const auto& left, const auto& right) {
            const int order = left->topic().name.compare(right->topic().name);
            return order != 0 ? order < 0 : left->partition() < right->partition();
        });
        return sync_logs(*group.volume, logs, group.checkpoint_done ? LogSync::Purpose::checkpoint : LogSync::Purpose::sync);
    }();
    {
        const MutexLock lock(mutex_);
        counters_.syncs += syncs;
        if (!result) {
            note_failure_locked(result.error());
        }
    }
    if (group.checkpoint_done) {
        group.checkpoint_done(result);
    }
}

void LogFlusher::note_failure_locked(const StorageError& error) {
    if (error.kind == StorageError::Kind::sync_failed && !failure_) {
        failure_ = error;
    }
}

void LogFlusher::serve(Waiting& waiting) {
    std::size_t syncs = 1;
    StorageResult<Offset> result = [&]() -> StorageResult<Offset> {
        if (const auto failed = failure()) {
            return std::unexpected(*failed);
        }
        if (!waiting.log->has_files()) {
            return waiting.log->log_end_offset();
        }
        if (waiting.log != first_) {
            PARTITA_TRY_ASSIGN(const auto first, serve_first());
            if (first) {
                ++syncs;
            }
        }
        return LogSync(waiting.log->core(), LogSync::Purpose::awaited_sync).run();
    }();
    {
        const MutexLock lock(mutex_);
        counters_.syncs += syncs;
        if (!result) {
            note_failure_locked(result.error());
        }
    }
    for (const Callback& callback : waiting.callbacks) {
        callback(result);
    }
}

}  // namespace partita
