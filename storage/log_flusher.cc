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
        const auto waiting = std::ranges::find(queue_, log, &Waiting::log);
        if (waiting != queue_.end()) {
            waiting->callbacks.push_back(std::move(callback));
            return true;  // Somebody is on the way already.
        }
        Waiting fresh{std::move(log), {}};
        fresh.callbacks.push_back(std::move(callback));
        queue_.push_back(std::move(fresh));
    }
    work_.notify_one();
    return true;
}

void LogFlusher::request_background_sync(std::shared_ptr<PartitionLog> log) {
    {
        const std::lock_guard lock(mutex_);
        if (waiting_count_ >= kMaximumWaiting) return;
        if (std::ranges::find(queue_, log, &Waiting::log) != queue_.end()) return;
        queue_.push_back({std::move(log), {}});
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
            return std::ranges::find(in_progress_, waiting.log.get()) == in_progress_.end();
        };
        auto next = std::ranges::find_if(queue_, is_free);
        if (next == queue_.end()) {
            if (stopping_ && queue_.empty()) return;
            work_.wait(lock);
            continue;
        }
        Waiting waiting = std::move(*next);
        queue_.erase(next);
        waiting_count_ -= waiting.callbacks.size();
        in_progress_.push_back(waiting.log.get());
        lock.unlock();
        serve(waiting);
        lock.lock();
        std::erase(in_progress_, waiting.log.get());
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
