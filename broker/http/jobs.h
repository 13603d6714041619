#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>

#include "protocol/mutex.h"
#include "schedule/executor.h"

namespace partita::http {

/// Runs work that would hold a reactor for too long: each job is the one step of a worker, and there are only a few at a time.
class Jobs {
  public:
    static constexpr std::size_t kJobsMax = 2;

    explicit Jobs(Executor& executor) : executor_(executor) {}
    ~Jobs() { stop(); }
    Jobs(const Jobs&) = delete;
    Jobs& operator=(const Jobs&) = delete;

    /// Starts `job`. False when `kJobsMax` jobs are running, or when the server stops. A job should end soon after `is_stopping`.
    [[nodiscard]] bool start(std::function<void()> job);
    [[nodiscard]] bool is_stopping() const { return stopping_.load(std::memory_order_acquire); }
    /// Takes no more jobs, and waits for those that run. One that has not begun is dropped.
    void stop();

  private:
    struct Job {
        std::atomic<bool> is_done = false;
        // Last: its step uses the above.
        std::unique_ptr<Worker> worker;
    };
    Executor& executor_;
    Mutex mutex_{LockRank::http_jobs};
    std::list<Job> jobs_ GUARDED_BY(mutex_);
    std::atomic<bool> stopping_ = false;
};

}  // namespace partita::http
