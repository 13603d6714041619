#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <thread>

#include "protocol/mutex.h"

namespace partita::http {

/// Runs work that would hold a reactor for too long: each job on a thread of its own, and only a few at a time.
class Jobs {
  public:
    static constexpr std::size_t kJobsMax = 2;

    Jobs() = default;
    ~Jobs() { stop(); }
    Jobs(const Jobs&) = delete;
    Jobs& operator=(const Jobs&) = delete;

    /// Starts `job`. False when `kJobsMax` jobs are running, or when the server stops. A job should end soon after `is_stopping`.
    [[nodiscard]] bool start(std::function<void()> job);
    [[nodiscard]] bool is_stopping() const { return stopping_.load(std::memory_order_acquire); }
    /// Takes no more jobs, and waits for those that run.
    void stop();

  private:
    struct Job {
        std::thread thread;
        std::atomic<bool> is_done = false;
    };
    Mutex mutex_{LockRank::http_jobs};
    std::list<Job> jobs_ GUARDED_BY(mutex_);
    std::atomic<bool> stopping_ = false;
};

}  // namespace partita::http
