#include "protocol/mutex.h"

#include <gtest/gtest.h>

#include <list>
#include <thread>

namespace partita {
namespace {

class MutexDeathTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!kChecksLockOrder) {
            GTEST_SKIP() << "a release build asserts no order";
        }
        GTEST_FLAG_SET(death_test_style, "threadsafe");
    }

    Mutex outer_{LockRank::catalog};
    Mutex inner_{LockRank::log_append};
};

TEST(Mutex, GuardsWhatTwoThreadsCount) {
    Mutex mutex(LockRank::catalog);
    int count = 0;
    const auto add = [&] {
        for (int i = 0; i < 10'000; ++i) {
            const MutexLock lock(mutex);
            ++count;
        }
    };
    std::thread other(add);
    add();
    other.join();
    EXPECT_EQ(count, 20'000);
}

TEST(Mutex, ConditionWakesWhoWaitsForIt) {
    Mutex mutex(LockRank::catalog);
    Condition changed;
    int step = 0;
    std::thread other([&] {
        UniqueLock lock(mutex);
        changed.wait(lock, [&] { return step == 1; });
        step = 2;
        changed.notify_one();
    });
    {
        UniqueLock lock(mutex);
        step = 1;
        changed.notify_one();
        changed.wait(lock, [&] { return step == 2; });
        EXPECT_FALSE(changed.wait_for(lock, std::chrono::milliseconds(1), [&] { return step == 3; }));
        // Held again: a third thread does not get it.
        std::thread([&] { EXPECT_FALSE(mutex.try_lock()); }).join();
    }
    other.join();
}

TEST(Mutex, SharedMutexLetsReadersInTogether) {
    SharedMutex mutex(LockRank::metadata_map);
    const SharedLock lock(mutex);
    std::thread([&] { const SharedLock beside(mutex); }).join();
}

TEST(Mutex, LocksTakenInTheirOrderAreGivenBackInAny) {
    Mutex outer(LockRank::catalog);
    Mutex inner(LockRank::log_append);
    UniqueLock first(outer);
    const MutexLock second(inner);
    first.unlock();
    Mutex innermost(LockRank::log_view);
    const MutexLock third(innermost);
}

TEST(Mutex, EveryLockHasANameOfItsOwn) {
    for (std::size_t i = 0; i < std::size(kLocks); ++i) {
        EXPECT_FALSE(kLocks[i].rank.empty());
        for (std::size_t before = 0; before < i; ++before) {
            EXPECT_NE(kLocks[before].rank, kLocks[i].rank);
        }
    }
}

TEST_F(MutexDeathTest, LockThatStandsAboveOneThatIsHeldEndsTheProcess) {
    EXPECT_DEATH(
        {
            const MutexLock inner(inner_);
            const MutexLock outer(outer_);
        },
        "lock 'catalog' is to be taken while 'log_append' is held");
}

TEST_F(MutexDeathTest, SecondLockOfARankEndsTheProcess) {
    Mutex beside(LockRank::catalog);
    EXPECT_DEATH(
        {
            const MutexLock lock(outer_);
            const MutexLock second(beside);
        },
        "lock 'catalog' is to be taken while 'catalog' is held");
}

TEST_F(MutexDeathTest, LockTakenTwiceEndsTheProcessInsteadOfHanging) {
    EXPECT_DEATH(
        {
            const MutexLock lock(outer_);
            const MutexLock again(outer_);
        },
        "lock 'catalog' is to be taken while 'catalog' is held");
}

TEST_F(MutexDeathTest, OrderCountsForWhoeverTriedInsteadOfWaiting) {
    EXPECT_DEATH(
        {
            if (inner_.try_lock()) {
                const MutexLock outer(outer_);
            }
        },
        "lock 'catalog' is to be taken while 'log_append' is held");
}

TEST_F(MutexDeathTest, SharedLockCountsAsAny) {
    SharedMutex shared(LockRank::metadata_map);
    EXPECT_DEATH(
        {
            const SharedLock lock(shared);
            const MutexLock outer(outer_);
        },
        "lock 'catalog' is to be taken while 'metadata_map' is held");
}

TEST_F(MutexDeathTest, WaitingWithASecondLockEndsTheProcess) {
    Condition condition;
    EXPECT_DEATH(
        {
            const MutexLock outer(outer_);
            UniqueLock lock(inner_);
            condition.wait(lock, [] { return false; });
        },
        "waits for a condition while it holds another lock");
}

TEST_F(MutexDeathTest, AssertingALockThatIsNotHeldEndsTheProcess) {
    EXPECT_DEATH(inner_.assert_held(), "what 'log_append' guards is used without it");
}

TEST_F(MutexDeathTest, AssertingALockThatAnotherThreadHoldsEndsTheProcess) {
    EXPECT_DEATH(
        {
            const MutexLock lock(inner_);
            std::thread([this] { inner_.assert_held(); }).join();
        },
        "what 'log_append' guards is used without it");
}

TEST_F(MutexDeathTest, MoreLocksThanTheLimitEndTheProcess) {
    const auto hold = [](std::size_t count) {
        std::list<Mutex> mutexes;
        for (std::size_t i = 0; i < count; ++i) {
            mutexes.emplace_back(static_cast<LockRank>(i)).lock();
        }
        for (Mutex& mutex : mutexes) {
            mutex.unlock();
        }
    };
    hold(HeldLocks::kMaximumHeld);
    EXPECT_DEATH(hold(HeldLocks::kMaximumHeld + 1), "a thread holds more locks at once");
}

}  // namespace
}  // namespace partita
