#include "storage/log_flusher.h"

#include <algorithm>
#include <utility>

#include "protocol/assert.h"
#include "storage/log_sync.h"

namespace partita {

LogFlusher::LogFlusher(std::size_t threads) {
    for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i) threads_.emplace_back([this] { run(); });
}

LogFlusher::~LogFlusher() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

bool LogFlusher::request_sync(std::shared_ptr<PartitionLog> log, Callback callback) {
    {
        const std::lock_guard lock(mutex_);
        if (waiting_count_ >= kMaximumWaiting) return false;
        ++waiting_count_;
        ++counters_.requests;
        const auto [waiting, is_new] = queued_.try_emplace(log.get());
        if (is_new) waiting->second = queue_.insert(queue_.end(), Waiting{std::move(log), {}});
        waiting->second->callbacks.push_back(std::move(callback));
        if (!is_new) return true;  // Somebody is on the way already.
    }
    work_.notify_one();
    return true;
}

void LogFlusher::request_background_sync(Volume& volume, std::vector<std::shared_ptr<PartitionLog>> logs) {
    {
        const std::lock_guard lock(mutex_);
        add_to_group_locked(volume, std::move(logs));
    }
    work_.notify_one();
}

void LogFlusher::request_checkpoint(Volume& volume, std::vector<std::shared_ptr<PartitionLog>> logs,
                                    std::function<void(const StorageResult<void>&)> done) {
    {
        const std::lock_guard lock(mutex_);
        PARTITA_ASSERT(!group_.checkpoint_done, "one checkpoint at a time");
        add_to_group_locked(volume, std::move(logs));
        group_.checkpoint_done = std::move(done);
    }
    work_.notify_one();
}

void LogFlusher::add_to_group_locked(Volume& volume, std::vector<std::shared_ptr<PartitionLog>> logs) {
    if (group_.is_empty()) group_.behind = queue_.size();
    group_.volume = &volume;
    for (std::shared_ptr<PartitionLog>& log : logs) group_.logs.insert(std::move(log));
}

void LogFlusher::drain() {
    std::unique_lock lock(mutex_);
    group_ = {};
    idle_.wait(lock, [this] { return is_idle_locked(); });
}

std::optional<StorageError> LogFlusher::failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
}

LogFlusher::Counters LogFlusher::counters() const {
    const std::lock_guard lock(mutex_);
    return counters_;
}

void LogFlusher::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        // One thread at a time per log: a second one would only wait for the first.
        const auto is_free = [this](const Waiting& waiting) {
            return !in_progress_.contains(waiting.log.get());
        };
        auto next = std::ranges::find_if(queue_, is_free);
        const bool is_turn_of_group = group_.behind == 0 || next == queue_.end();
        if (is_turn_of_group && !group_.is_empty() && !group_in_progress_ && !stopping_) {
            const Group group = std::exchange(group_, {});
            group_in_progress_ = true;
            lock.unlock();
            serve(group);
            lock.lock();
            group_in_progress_ = false;
            work_.notify_all();
            if (is_idle_locked()) idle_.notify_all();
            continue;
        }
        if (next == queue_.end()) {
            if (stopping_ && queue_.empty()) return;
            work_.wait(lock);
            continue;
        }
        Waiting waiting = std::move(*next);
        queued_.erase(waiting.log.get());
        queue_.erase(next);
        waiting_count_ -= waiting.callbacks.size();
        in_progress_.insert(waiting.log.get());
        if (group_.behind > 0) --group_.behind;
        lock.unlock();
        serve(waiting);
        lock.lock();
        in_progress_.erase(waiting.log.get());
        work_.notify_all();
        if (is_idle_locked()) idle_.notify_all();
    }
}

void LogFlusher::serve(const Group& group) {
    const StorageResult<void> result = [&]() -> StorageResult<void> {
        if (const auto failed = failure()) return std::unexpected(*failed);
        const std::vector<std::shared_ptr<PartitionLog>> logs(group.logs.begin(), group.logs.end());
        return sync_logs(*group.volume, logs, group.checkpoint_done ? LogSync::Purpose::checkpoint : LogSync::Purpose::sync);
    }();
    {
        const std::lock_guard lock(mutex_);
        counters_.syncs += group.logs.size();
        if (!result) note_failure_locked(result.error());
    }
    if (group.checkpoint_done) group.checkpoint_done(result);
}

void LogFlusher::note_failure_locked(const StorageError& error) {
    if (error.kind == StorageError::Kind::sync_failed && !failure_) failure_ = error;
}

void LogFlusher::serve(Waiting& waiting) {
    StorageResult<Offset> result = [&]() -> StorageResult<Offset> {
        if (const auto failed = failure()) return std::unexpected(*failed);
        if (!waiting.log->has_files()) return waiting.log->log_end_offset();
        return LogSync(*waiting.log, LogSync::Purpose::awaited_sync).run();
    }();
    {
        const std::lock_guard lock(mutex_);
        ++counters_.syncs;
        if (!result) note_failure_locked(result.error());
    }
    for (const Callback& callback : waiting.callbacks) callback(result);
}

}  // namespace partita
