#include "storage/log_flusher.h"

#include <algorithm>
#include <utility>

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

void LogFlusher::request_background_sync(std::shared_ptr<PartitionLog> log) {
    {
        const std::lock_guard lock(mutex_);
        if (waiting_count_ >= kMaximumWaiting) return;
        const auto [waiting, is_new] = queued_.try_emplace(log.get());
        if (!is_new) return;
        waiting->second = queue_.insert(queue_.end(), Waiting{std::move(log), {}});
    }
    work_.notify_one();
}

void LogFlusher::drain() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return queue_.empty() && in_progress_.empty(); });
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
        lock.unlock();
        serve(waiting);
        lock.lock();
        in_progress_.erase(waiting.log.get());
        work_.notify_all();
        if (queue_.empty() && in_progress_.empty()) idle_.notify_all();
    }
}

void LogFlusher::serve(Waiting& waiting) {
    StorageResult<Offset> result = [&]() -> StorageResult<Offset> {
        if (const auto failed = failure()) return std::unexpected(*failed);
        return waiting.log->sync();
    }();
    {
        const std::lock_guard lock(mutex_);
        ++counters_.syncs;
        if (!result && result.error().kind == StorageError::Kind::sync_failed && !failure_) failure_ = result.error();
    }
    for (const Callback& callback : waiting.callbacks) callback(result);
}

}  // namespace partita
