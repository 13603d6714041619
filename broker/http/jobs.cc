#include "broker/http/jobs.h"

#include <utility>

namespace partita::http {

bool Jobs::start(std::function<void()> job) {
    const MutexLock lock(mutex_);
    jobs_.remove_if([](const Job& running) { return running.is_done.load(std::memory_order_acquire); });
    if (is_stopping() || jobs_.size() >= most_) {
        return false;
    }
    Job& running = jobs_.emplace_back();
    running.worker = executor_.start_beside_clock("http-job", [&running, job = std::move(job)]() mutable {
        job();
        // Release what the job holds before other threads see that it is over.
        job = nullptr;
        running.is_done.store(true, std::memory_order_release);
        return kOver;
    });
    return true;
}

void Jobs::stop() {
    stopping_.store(true, std::memory_order_release);
    const MutexLock lock(mutex_);
    jobs_.clear();
}

}  // namespace partita::http
