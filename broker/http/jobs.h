#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>

#include "protocol/mutex.h"
#include "schedule/executor.h"

namespace partita::http {

/// Runs work that would occupy a reactor for too long. Each job is the only step of a worker, whose thread ends with it. Only a
/// few jobs run at a time.
class Jobs {
  public:
    /// `most`: the number of jobs that may run at a time.
    Jobs(Executor& executor, std::size_t most) : executor_(executor), most_(most) {}
    ~Jobs() { stop(); }
    Jobs(const Jobs&) = delete;
    Jobs& operator=(const Jobs&) = delete;

    /// Starts `job`. False if the maximum number of jobs runs, or if the server stops. A job should end soon after `is_stopping`.
    [[nodiscard]] bool start(std::function<void()> job);
    [[nodiscard]] bool is_stopping() const { return stopping_.load(std::memory_order_acquire); }
    /// Accepts no more jobs and waits for the running ones. A job that has not begun is dropped.
    void stop();

  private:
    struct Job {
        std::atomic<bool> is_done = false;
        // Last, because its step uses the members above.
        std::unique_ptr<Worker> worker;
    };
    Executor& executor_;
    const std::size_t most_;
    Mutex mutex_{LockRank::http_jobs};
    std::list<Job> jobs_ GUARDED_BY(mutex_);
    std::atomic<bool> stopping_ = false;
};

}  // namespace partita::http
