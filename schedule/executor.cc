#include "schedule/executor.h"

#include <pthread.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "protocol/mutex.h"

namespace partita {
namespace {

class ThreadWorker final : public Worker {
  public:
    ThreadWorker(std::string_view name, Executor::Step step)
        : step_(std::move(step)), thread_([this, name = std::string(name.substr(0, kNameMax))] { run(name); }) {}

    ~ThreadWorker() override {
        {
            const MutexLock lock(mutex_);
            stopping_ = true;
        }
        wake_.notify_one();
        thread_.join();
    }

    void wake() override {
        {
            const MutexLock lock(mutex_);
            woken_ = true;
        }
        wake_.notify_one();
    }

  private:
    /// The kernel keeps no longer name.
    static constexpr std::size_t kNameMax = 15;

    void run(const std::string& name) {
        // A failure does not matter: the name is only for people who look at threads.
        (void)::pthread_setname_np(::pthread_self(), name.c_str());
        UniqueLock lock(mutex_);
        const auto is_called = [this]() REQUIRES(mutex_) { return woken_ || stopping_; };
        while (!stopping_) {
            woken_ = false;
            lock.unlock();
            const Instant next = step_();
            lock.lock();
            if (next == kOver) {
                return;
            }
            if (next == kNever) {
                wake_.wait(lock, is_called);
            } else if (next != kAtOnce) {
                const std::chrono::steady_clock::time_point until{std::chrono::milliseconds(next.value)};
                wake_.wait_until(lock, until, is_called);
            }
        }
    }

    const Executor::Step step_;
    Mutex mutex_{LockRank::worker};
    Condition wake_;
    bool woken_ GUARDED_BY(mutex_) = false;
    bool stopping_ GUARDED_BY(mutex_) = false;
    // Declared last, because the thread uses all members above.
    std::thread thread_;
};

}  // namespace

std::unique_ptr<Worker> ThreadExecutor::start(std::string_view name, Step step) {
    return std::make_unique<ThreadWorker>(name, std::move(step));
}

Schedule real_schedule() {
    static SystemClock clock;
    static ThreadExecutor executor;
    return {clock, executor};
}

}  // namespace partita
