#include "schedule/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <semaphore>
#include <thread>

namespace partita {
namespace {

TEST(ThreadExecutor, CallsTheFirstStepUnasked) {
    std::latch called(1);
    std::once_flag once;
    const auto worker = ThreadExecutor().start("test", [&] {
        std::call_once(once, [&] { called.count_down(); });
        return kNever;
    });
    called.wait();
}

TEST(ThreadExecutor, ThreadEndsWithTheLastStepThoughTheWorkerStays) {
    struct AtEnd {
        ~AtEnd() { ended.set_value(); }
        std::promise<void>& ended;
    };
    std::promise<void> ended;
    int steps = 0;
    const auto worker = ThreadExecutor().start("test", [&] {
        thread_local AtEnd at_end{ended};
        ++steps;
        return kOver;
    });
    ASSERT_EQ(ended.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
    worker->wake();
    EXPECT_EQ(steps, 1);
}

TEST(ThreadExecutor, CallsAgainAtOnceAsOftenAsItIsAskedTo) {
    std::latch last(1);
    int steps = 0;
    const auto worker = ThreadExecutor().start("test", [&] {
        if (++steps == 1'000) {
            last.count_down();
        }
        return steps < 1'000 ? kAtOnce : kNever;
    });
    last.wait();
    EXPECT_EQ(steps, 1'000);
}

TEST(ThreadExecutor, CallsWhenTheTimeHasComeAndNotBefore) {
    SystemClock clock;
    constexpr std::int64_t kRestMs = 30;
    std::latch second(1);
    Instant due;
    Instant called;
    int steps = 0;
    const auto worker = ThreadExecutor().start("test", [&] {
        const Instant now = clock.now().monotonic;
        if (++steps == 1) {
            return due = now + kRestMs;
        }
        called = now;
        second.count_down();
        return kNever;
    });
    second.wait();
    EXPECT_GE(called, due);
}

TEST(ThreadExecutor, WakingDuringAStepBringsAnotherOne) {
    std::binary_semaphore begun(0);
    std::binary_semaphore may_end(0);
    const auto worker = ThreadExecutor().start("test", [&] {
        begun.release();
        may_end.acquire();
        return kNever;
    });
    begun.acquire();
    worker->wake();
    worker->wake();
    may_end.release();
    begun.acquire();
    may_end.release();
}

TEST(ThreadExecutor, NoStepRunsOrBeginsOnceTheWorkerIsGone) {
    std::atomic<bool> is_running = false;
    std::atomic<std::uint64_t> steps = 0;
    std::latch begun(1);
    auto worker = ThreadExecutor().start("test", [&] {
        is_running = true;
        if (++steps == 1) {
            begun.count_down();
        }
        std::this_thread::yield();
        is_running = false;
        return kAtOnce;
    });
    begun.wait();
    worker.reset();
    EXPECT_FALSE(is_running);
    const std::uint64_t before = steps;
    std::this_thread::yield();
    EXPECT_EQ(steps, before);
}

TEST(ThreadExecutor, WorkersStepBesideEachOther) {
    // Neither step ends before the other has begun.
    std::latch both(2);
    const auto wait_for_both = [&] {
        both.arrive_and_wait();
        return kNever;
    };
    ThreadExecutor executor;
    const auto one = executor.start("one", wait_for_both);
    const auto other = executor.start("other", wait_for_both);
    both.wait();
    EXPECT_TRUE(both.try_wait());
}

TEST(SystemClock, NeverGoesBackAndCountsWhatAThreadUses) {
    SystemClock clock;
    const Now before = clock.now();
    const std::int64_t stopwatch_before = clock.stopwatch_ns();
    const std::int64_t used_before = clock.thread_processor_ns();
    volatile std::int64_t work = 0;
    for (int i = 0; i < 100'000; ++i) {
        work = work + i;
    }
    EXPECT_GE(clock.now().monotonic, before.monotonic);
    EXPECT_GT(clock.stopwatch_ns(), stopwatch_before);
    EXPECT_GT(clock.thread_processor_ns(), used_before);
    EXPECT_GE(clock.process_processor_ns(), clock.thread_processor_ns());
}

}  // namespace
}  // namespace partita
