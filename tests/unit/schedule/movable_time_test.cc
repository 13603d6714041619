#include "schedule/movable_time.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

namespace partita {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;

bool never() { return false; }

/// Times that steps saw, from any thread.
class Seen {
  public:
    void note(Instant time) {
        const std::scoped_lock lock(mutex_);
        times_.push_back(time.value);
    }
    [[nodiscard]] std::vector<std::int64_t> since(Instant begin) const {
        const std::scoped_lock lock(mutex_);
        std::vector<std::int64_t> since;
        for (const std::int64_t time : times_) {
            since.push_back(time - begin.value);
        }
        return since;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<std::int64_t> times_;
};

class MovableTimeTest : public testing::Test {
  protected:
    Instant now() { return time_.now().monotonic; }
    MovableTime::Moved advance(std::int64_t duration_ms) {
        auto moved = time_.move({.advance_ms = duration_ms}, never);
        EXPECT_TRUE(moved);
        return std::move(moved).value_or(MovableTime::Moved());
    }
    Instant stand_still() {
        EXPECT_TRUE(time_.move({.stands = true}, never));
        return now();
    }

    MovableTime time_{real_schedule()};
};

TEST_F(MovableTimeTest, RunsWithTheMachineUntilItIsMoved) {
    SystemClock machine;
    const Now before = machine.now();
    const Now now = time_.now();
    const Now after = machine.now();
    EXPECT_LE(before.monotonic, now.monotonic);
    EXPECT_LE(now.monotonic, after.monotonic);
    EXPECT_LE(before.wall, now.wall);
    EXPECT_LE(now.wall, after.wall);
    EXPECT_FALSE(time_.stands());
}

TEST_F(MovableTimeTest, AdvanceMovesBothClocksAndLetsThemRunOn) {
    const Now before = time_.now();
    const auto moved = advance(kHourMs);
    EXPECT_EQ(time_.ahead_ms(), kHourMs) << "the time that the move took is not lost";
    EXPECT_EQ(moved.to.monotonic - moved.from.monotonic, kHourMs);
    EXPECT_EQ(moved.to.wall.value - moved.from.wall.value, kHourMs);
    const Now after = time_.now();
    EXPECT_GE(after.monotonic - before.monotonic, kHourMs);
    EXPECT_GE(after.wall.value - before.wall.value, kHourMs);
    while (now() <= after.monotonic) {
        std::this_thread::yield();
    }
}

TEST_F(MovableTimeTest, StandsStillAndRunsOnFromThere) {
    const Instant standing = stand_still();
    EXPECT_TRUE(time_.stands());
    const Instant machine = time_.machine_now();
    while (time_.machine_now() <= machine) {
        std::this_thread::yield();
    }
    EXPECT_EQ(now(), standing);
    advance(5);
    EXPECT_EQ(now(), standing + 5);
    ASSERT_TRUE(time_.move({.stands = false}, never));
    EXPECT_LT(now() - standing, kHourMs);
    while (now() <= standing + 5) {
        std::this_thread::yield();
    }
}

TEST_F(MovableTimeTest, WallClockGoesBackAloneAndNothingFallsDue) {
    const Instant standing = stand_still();
    const auto moved = time_.move({.wall = TimestampMs{1'000}}, never);
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->stops, 0);
    EXPECT_EQ(time_.now().wall, TimestampMs{1'000});
    EXPECT_EQ(now(), standing);
}

TEST_F(MovableTimeTest, GoesToATimeOfTheWallClock) {
    const Now standing{stand_still(), time_.now().wall};
    ASSERT_TRUE(time_.move({.wall = TimestampMs{standing.wall.value + 250}}, never));
    EXPECT_EQ(time_.now().wall.value, standing.wall.value + 250);
    EXPECT_EQ(now(), standing.monotonic + 250);
}

TEST_F(MovableTimeTest, WorkersWorkInTheOrderOfTheirTimesAndSeeThem) {
    const Instant begin = stand_still();
    Seen seen;
    const auto every = [&](std::int64_t period_ms) {
        return [&, period_ms, next = begin + period_ms]() mutable {
            if (now() < next) {
                return next;
            }
            seen.note(now());
            return next = now() + period_ms;
        };
    };
    const auto slow = time_.start("slow", every(100));
    const auto fast = time_.start("fast", every(70));
    const auto moved = advance(300);
    EXPECT_EQ(seen.since(begin), (std::vector<std::int64_t>{70, 100, 140, 200, 210, 280, 300}));
    EXPECT_EQ(now(), begin + 300);
    EXPECT_TRUE(moved.unfinished.empty());
    EXPECT_GE(moved.ran.at("slow"), 3);
    EXPECT_GE(moved.ran.at("fast"), 4);
}

TEST_F(MovableTimeTest, WorkerRestsForEverWhileTheClockStandsStill) {
    const Instant begin = stand_still();
    std::atomic<int> steps = 0;
    const auto worker = time_.start("worker", [&] {
        ++steps;
        return begin + 1;
    });
    const Instant machine = time_.machine_now();
    while (time_.machine_now() < machine + 20) {
        std::this_thread::yield();
    }
    EXPECT_LE(steps, 1);
}

TEST_F(MovableTimeTest, WorkerThatRestedWhileTheClockStoodIsCalledOnceItRuns) {
    const Instant begin = stand_still();
    std::latch called(1);
    const auto worker = time_.start("worker", [&, is_over = false]() mutable {
        if (!is_over && now() >= begin + 20) {
            is_over = true;
            called.count_down();
        }
        return is_over ? kNever : begin + 20;
    });
    ASSERT_TRUE(time_.move({.stands = false}, never));
    called.wait();
    EXPECT_GE(now(), begin + 20);
}

TEST_F(MovableTimeTest, AMoveWaitsForWorkThatWorkBringsAbout) {
    const Instant begin = stand_still();
    Seen seen;
    std::atomic<int> asked = 0;
    const auto second = time_.start("second", [&] {
        if (asked.exchange(0) > 0) {
            seen.note(now());
        }
        return kNever;
    });
    const auto first = time_.start("first", [&] {
        if (now() == begin + 50) {
            asked = 1;
            second->wake();
        }
        return now() < begin + 50 ? begin + 50 : kNever;
    });
    advance(1'000);
    EXPECT_EQ(seen.since(begin), std::vector<std::int64_t>{50});
}

TEST_F(MovableTimeTest, WorkerBesideTheClockLooksOnceAfterAMove) {
    const Instant begin = stand_still();
    Seen seen;
    std::binary_semaphore stepped(0);
    const auto worker = time_.start_beside_clock("beside", [&] {
        seen.note(now());
        stepped.release();
        return now() + kHourMs / 2;
    });
    stepped.acquire();
    advance(kHourMs);
    EXPECT_EQ(seen.since(begin), (std::vector<std::int64_t>{0, kHourMs}));
}

TEST_F(MovableTimeTest, WorkerBesideTheClockRestsByTheMachineWhileTheClockStandsStill) {
    stand_still();
    std::latch thrice(3);
    const auto worker = time_.start_beside_clock("beside", [&, steps = 0]() mutable {
        if (++steps <= 3) {
            thrice.count_down();
        }
        return now() + 5;
    });
    thrice.wait();
}

TEST_F(MovableTimeTest, WorkOfTheMachineSeesItsTimeWhileTheClockStandsStill) {
    const Schedule machine = machine_schedule({time_, time_});
    stand_still();
    std::latch thrice(3);
    const auto worker = machine.executor.start("watch", [&, next = machine.clock.now().monotonic + 5]() mutable {
        if (machine.clock.now().monotonic >= next) {
            thrice.count_down();
            next = next + 5;
        }
        return thrice.try_wait() ? kNever : next;
    });
    thrice.wait();
}

TEST_F(MovableTimeTest, OneMoveIsUnderWayAtATime) {
    const Instant begin = stand_still();
    std::optional<bool> was_refused;
    const auto worker = time_.start("worker", [&] {
        if (now() == begin + 10) {
            was_refused = !time_.move({.advance_ms = 1}, never);
        }
        return now() < begin + 10 ? begin + 10 : kNever;
    });
    advance(20);
    EXPECT_EQ(was_refused, true);
    EXPECT_EQ(now(), begin + 20);
}

TEST_F(MovableTimeTest, AStepMayMoveTheClock) {
    const Instant begin = stand_still();
    std::latch moved(1);
    const auto worker = time_.start("worker", [&] {
        EXPECT_TRUE(time_.move({.advance_ms = 40}, never));
        moved.count_down();
        return kOver;
    });
    moved.wait();
    EXPECT_EQ(now(), begin + 40);
}

TEST_F(MovableTimeTest, AWorkerThatIsAtWorkWhenAMoveBeginsTakesPartInIt) {
    const Instant begin = stand_still();
    std::binary_semaphore at_work(0);
    std::binary_semaphore may_go_on(0);
    Seen seen;
    const auto worker = time_.start("worker", [&, is_first = true]() mutable {
        if (std::exchange(is_first, false)) {
            at_work.release();
            may_go_on.acquire();
        } else if (now() == begin + 40) {
            seen.note(now());
            return kNever;
        }
        return begin + 40;
    });
    at_work.acquire();
    int looks = 0;
    const auto moved = time_.move({.advance_ms = 100}, [&] {
        if (++looks == 2) {
            may_go_on.release();
        }
        return false;
    });
    ASSERT_TRUE(moved);
    EXPECT_EQ(seen.since(begin), std::vector<std::int64_t>{40});
}

TEST_F(MovableTimeTest, AMoveAsksAtEachStopWhetherItMustEnd) {
    const Instant begin = stand_still();
    const auto worker = time_.start("worker", [&] { return now() + 1; });
    int looks = 0;
    const auto moved = time_.move({.advance_ms = 1'000}, [&] { return ++looks == 100; });
    ASSERT_TRUE(moved);
    EXPECT_LE(moved->stops, 101);
    EXPECT_EQ(now(), begin + 1'000);
}

TEST_F(MovableTimeTest, AWorkerMayEndDuringAMove) {
    const Instant begin = stand_still();
    std::unique_ptr<Worker> ends;
    std::binary_semaphore at_work(0);
    ends = time_.start("ends", [&] {
        if (now() == begin + 10) {
            at_work.release();
        }
        return now() < begin + 10 ? begin + 10 : now() + 1;
    });
    std::thread other([&] {
        at_work.acquire();
        ends.reset();
    });
    EXPECT_TRUE(time_.move({.advance_ms = 500}, never));
    other.join();
}

TEST_F(MovableTimeTest, AMoveThatMustEndGoesToItsEndAndNamesTheUnfinished) {
    const Instant begin = stand_still();
    std::binary_semaphore may_go_on(0);
    std::atomic<bool> hangs = false;
    const auto worker = time_.start("slow", [&] {
        if (now() == begin + 10) {
            hangs = true;
            may_go_on.acquire();
            return kNever;
        }
        return begin + 10;
    });
    const auto moved = time_.move({.advance_ms = kHourMs}, [&] { return hangs.load(); });
    EXPECT_EQ(now(), begin + kHourMs);
    may_go_on.release();
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->unfinished, std::vector<std::string>{"slow"});
}

TEST_F(MovableTimeTest, ALongMoveMakesALimitedNumberOfStops) {
    stand_still();
    const auto worker = time_.start("busy", [&] { return now() + 1; });
    const auto moved = advance(30 * 24 * kHourMs);
    EXPECT_GE(moved.stops, 2 * MovableTime::kStopsMax);
    EXPECT_LE(moved.stops, 2 * MovableTime::kStopsMax + 1);
    EXPECT_GE(moved.ran.at("busy"), moved.stops);
    EXPECT_TRUE(moved.unfinished.empty());
}

TEST_F(MovableTimeTest, AWorkerThatIsAlwaysDueHoldsUpNoMoveForLongerThanItMay) {
    const Instant begin = stand_still();
    const auto worker = time_.start("endless", [] { return kAtOnce; });
    int looks = 0;
    const auto moved = time_.move({.advance_ms = 10}, [&] { return ++looks == 3; });
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->unfinished, std::vector<std::string>{"endless"});
    EXPECT_EQ(now(), begin + 10);
}

TEST_F(MovableTimeTest, AWorkerThatEndsDuringAMoveHoldsItUpNoLonger) {
    const Instant begin = stand_still();
    const auto worker = time_.start("last", [&] { return now() < begin + 5 ? begin + 5 : kOver; });
    const auto moved = advance(10);
    EXPECT_TRUE(moved.unfinished.empty());
}

TEST_F(MovableTimeTest, NeverGoesBackForAThreadThatReadsItMeanwhile) {
    std::atomic<bool> is_over = false;
    std::array<std::thread, 2> readers;
    std::atomic<int> went_back = 0;
    for (std::thread& reader : readers) {
        reader = std::thread([&] {
            for (Instant last = now(); !is_over;) {
                const Instant next = now();
                went_back += next < last ? 1 : 0;
                last = next;
            }
        });
    }
    for (int i = 0; i < 2'000; ++i) {
        ASSERT_TRUE(time_.move({.advance_ms = i % 3, .stands = i % 2 == 0}, never));
    }
    is_over = true;
    for (std::thread& reader : readers) {
        reader.join();
    }
    EXPECT_EQ(went_back, 0);
}

/// Rests until `due`, and looks on the thread that asks.
class StillSleeper final : public Sleeper {
  public:
    explicit StillSleeper(MovableTime& time) : time_(time) { time_.join(*this); }
    ~StillSleeper() override {
        thread_.request_stop();
        asked_.release();
        thread_.join();
        time_.leave(*this);
    }
    [[nodiscard]] std::string_view name() const override { return "sleeper"; }
    void look(std::function<void()> looked) override {
        const std::scoped_lock lock(mutex_);
        calls_.push_back(std::move(looked));
        asked_.release();
    }
    /// False if the sleeper must look again at once.
    [[nodiscard]] bool rest_until(Instant due) {
        due_ = due;
        return !time_.rests(*this, due);
    }

    Seen seen;
    std::int64_t period_ms = 0;

  private:
    void run(const std::stop_token& stop) {
        while (true) {
            asked_.acquire();
            if (stop.stop_requested()) {
                return;
            }
            std::function<void()> call;
            {
                const std::scoped_lock lock(mutex_);
                call = std::move(calls_.front());
                calls_.erase(calls_.begin());
            }
            do {
                if (const Instant now = time_.now().monotonic; due_ <= now) {
                    seen.note(now);
                    due_ = period_ms > 0 ? now + period_ms : kNever;
                }
            } while (!rest_until(due_));
            call();
        }
    }

    MovableTime& time_;
    std::mutex mutex_;
    std::vector<std::function<void()>> calls_;
    std::counting_semaphore<> asked_{0};
    Instant due_ = kNever;
    std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

TEST_F(MovableTimeTest, SleepersLookWhenTheyAreDue) {
    const Instant begin = stand_still();
    StillSleeper sleeper(time_);
    ASSERT_TRUE(sleeper.rest_until(begin + 30));
    const auto moved = advance(100);
    EXPECT_EQ(sleeper.seen.since(begin), std::vector<std::int64_t>{30});
    EXPECT_EQ(moved.ran.at("sleeper"), 1);
}

TEST_F(MovableTimeTest, ASleeperThatGoesOnByItselfPassesNobodyElse) {
    const Instant begin = stand_still();
    StillSleeper often(time_);
    StillSleeper seldom(time_);
    often.period_ms = 10;
    ASSERT_TRUE(often.rest_until(begin + 10));
    ASSERT_TRUE(seldom.rest_until(begin + 45));
    Seen seen;
    const auto worker = time_.start("worker", [&] {
        if (now() == begin + 70) {
            seen.note(now());
        }
        return now() < begin + 70 ? begin + 70 : kNever;
    });
    // As an HTTP request does.
    std::promise<MovableTime::Moved> answer;
    const auto job = time_.start_beside_clock("job", [&] {
        answer.set_value(advance(100));
        return kOver;
    });
    const auto moved = answer.get_future().get();
    EXPECT_EQ(often.seen.since(begin), (std::vector<std::int64_t>{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}));
    EXPECT_EQ(seldom.seen.since(begin), std::vector<std::int64_t>{45});
    EXPECT_EQ(seen.since(begin), std::vector<std::int64_t>{70});
    EXPECT_EQ(moved.stops, 11);
    EXPECT_EQ(moved.ran.at("sleeper"), 11);
    EXPECT_EQ(now(), begin + 100);
}

}  // namespace
}  // namespace partita
