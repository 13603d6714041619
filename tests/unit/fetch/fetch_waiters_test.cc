#include "broker/fetch/fetch_waiters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace partita::fetch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr PartitionKey kFirst{1};
constexpr PartitionKey kSecond{2};

class FetchWaitersTest : public ::testing::Test {
  protected:
    std::vector<WaiterId> append(PartitionKey partition, std::int64_t bytes) {
        std::vector<WaiterId> completed;
        waiters.on_append(partition, bytes, completed);
        return completed;
    }
    std::vector<WaiterId> advance(std::int64_t now) {
        std::vector<WaiterId> completed;
        waiters.advance(Instant{now}, completed);
        return completed;
    }

    FetchWaiters waiters;
};

TEST_F(FetchWaitersTest, BytesOfSeveralPartitionsAddUp) {
    const WaiterId waiter = waiters.add({{kFirst, 1000}, {kSecond, 1000}}, 100, Instant{500});
    EXPECT_THAT(append(kFirst, 60), IsEmpty());
    EXPECT_THAT(append(kSecond, 39), IsEmpty());
    EXPECT_THAT(append(kSecond, 1), ElementsAre(waiter));
    EXPECT_EQ(waiters.size(), 0u);
}

TEST_F(FetchWaitersTest, OnePartitionCountsOnlyUpToItsOwnLimit) {
    const WaiterId waiter = waiters.add({{kFirst, 50}, {kSecond, 50}}, 80, Instant{500});
    EXPECT_THAT(append(kFirst, 1'000'000), IsEmpty());
    EXPECT_THAT(append(kSecond, 30), ElementsAre(waiter));
}

TEST_F(FetchWaitersTest, PartitionThatIsNamedTwiceCountsOnce) {
    const WaiterId waiter = waiters.add({{kSecond, 50}, {kFirst, 50}, {kSecond, 50}}, 80, Instant{500});
    EXPECT_THAT(append(kSecond, 1000), IsEmpty());
    EXPECT_THAT(append(kFirst, 30), ElementsAre(waiter));
    EXPECT_FALSE(waiters.waits_for(kFirst) || waiters.waits_for(kSecond));
}

TEST(FetchGrace, IsNeverLessThanTheClockCutsOffAndNeverLong) {
    EXPECT_EQ(grace_ms(1), 1);
    EXPECT_EQ(grace_ms(50), 2);
    EXPECT_EQ(grace_ms(500), 11);
    EXPECT_EQ(grace_ms(30'000), 11);
    EXPECT_EQ(grace_ms(0x7fffffff), 11);
}

TEST_F(FetchWaitersTest, DeadlinesCompleteInOrderOfTimeThenOfArrival) {
    const WaiterId late = waiters.add({{kFirst, 1}}, 1, Instant{30});
    const WaiterId early = waiters.add({{kFirst, 1}}, 1, Instant{10});
    const WaiterId early_too = waiters.add({{kSecond, 1}}, 1, Instant{10});
    EXPECT_EQ(waiters.next_deadline(), Instant{10});
    EXPECT_THAT(advance(9), IsEmpty());
    EXPECT_THAT(advance(30), ElementsAre(early, early_too, late));
    EXPECT_EQ(waiters.next_deadline(), std::nullopt);
}

TEST_F(FetchWaitersTest, CompletedWaitersNeverCompleteAgain) {
    const WaiterId waiter = waiters.add({{kFirst, 10}}, 1, Instant{10});
    EXPECT_THAT(append(kFirst, 5), ElementsAre(waiter));
    EXPECT_THAT(append(kFirst, 5), IsEmpty());
    EXPECT_THAT(advance(100), IsEmpty());
    EXPECT_FALSE(waiters.waits_for(kFirst));
}

TEST_F(FetchWaitersTest, CancelledWaitersAreForgotten) {
    const WaiterId waiter = waiters.add({{kFirst, 10}}, 1, Instant{10});
    waiters.cancel(waiter);
    waiters.cancel(waiter);
    EXPECT_THAT(append(kFirst, 5), IsEmpty());
    EXPECT_EQ(waiters.next_deadline(), std::nullopt);
}

TEST_F(FetchWaitersTest, ChangeWakesEverybodyOnThatPartitionOnly) {
    const WaiterId both = waiters.add({{kFirst, 10}, {kSecond, 10}}, 5, Instant{10});
    const WaiterId other = waiters.add({{kSecond, 10}}, 5, Instant{10});
    std::vector<WaiterId> completed;
    waiters.on_change(kFirst, completed);
    EXPECT_THAT(completed, ElementsAre(both));
    EXPECT_THAT(append(kSecond, 5), ElementsAre(other));
}

TEST_F(FetchWaitersTest, ManyShortWaitsLeaveNoDeadlinesBehind) {
    const WaiterId patient = waiters.add({{kSecond, 10}}, 5, Instant{1'000'000});
    for (int i = 0; i < 100'000; ++i) {
        waiters.add({{kFirst, 10}}, 1, Instant{500'000 - i});
        ASSERT_EQ(append(kFirst, 1).size(), 1u);
    }
    EXPECT_EQ(waiters.next_deadline(), Instant{1'000'000});
    EXPECT_THAT(advance(1'000'000), ElementsAre(patient));
}

}  // namespace
}  // namespace partita::fetch
