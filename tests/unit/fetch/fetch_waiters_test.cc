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
    using Waited = std::vector<FetchWaiters::WaitedPartition>;
    using Woken = std::vector<FetchWaiters::Woken>;

    WaiterId add(Waited partitions, std::int64_t missing_bytes, Instant deadline) {
        return waiters.add({.partitions = std::move(partitions), .missing_bytes = missing_bytes, .deadline = deadline});
    }
    /// A wait for committed records, in a partition that the reader saw up to `stable_end`.
    static FetchWaiters::Wait committed(Offset stable_end, bool is_stable, std::int64_t missing_bytes = 1) {
        return {.partitions = {{.partition = kFirst, .countable_bytes = 1000, .stable_end = stable_end, .is_stable = is_stable}},
                .missing_bytes = missing_bytes,
                .deadline = Instant{500},
                .isolation = FetchWaiters::Isolation::read_committed};
    }
    Woken grow(const FetchWaiters::Growth& growth) {
        Woken woken;
        waiters.on_append(kFirst, growth, woken);
        return woken;
    }
    static std::vector<WaiterId> ids(const Woken& woken, FetchWaiters::Reason reason) {
        std::vector<WaiterId> result;
        for (const FetchWaiters::Woken& one : woken) {
            EXPECT_EQ(one.reason, reason);
            result.push_back(one.waiter);
        }
        return result;
    }
    std::vector<WaiterId> append(PartitionKey partition, std::int64_t bytes) {
        Woken woken;
        waiters.on_append(partition, {.bytes = bytes}, woken);
        return ids(woken, FetchWaiters::Reason::enough);
    }
    std::vector<WaiterId> change(PartitionKey partition) {
        Woken woken;
        waiters.on_change(partition, woken);
        return ids(woken, FetchWaiters::Reason::look);
    }
    std::vector<WaiterId> advance(std::int64_t now) {
        Woken woken;
        waiters.advance(Instant{now}, woken);
        return ids(woken, FetchWaiters::Reason::over);
    }

    FetchWaiters waiters;
};

TEST_F(FetchWaitersTest, BytesOfSeveralPartitionsAddUp) {
    const WaiterId waiter = add({{kFirst, 1000}, {kSecond, 1000}}, 100, Instant{500});
    EXPECT_THAT(append(kFirst, 60), IsEmpty());
    EXPECT_THAT(append(kSecond, 39), IsEmpty());
    EXPECT_THAT(append(kSecond, 1), ElementsAre(waiter));
    EXPECT_EQ(waiters.size(), 0u);
}

TEST_F(FetchWaitersTest, NoWaitIsNamedLikeNone) {
    EXPECT_NE(add({{kFirst, 0}}, 10, Instant{500}), kNoWaiter);
    waiters.cancel(kNoWaiter);
    EXPECT_EQ(waiters.size(), 1U);
}

TEST_F(FetchWaitersTest, OnePartitionCountsOnlyUpToItsOwnLimit) {
    const WaiterId waiter = add({{kFirst, 50}, {kSecond, 50}}, 80, Instant{500});
    EXPECT_THAT(append(kFirst, 1'000'000), IsEmpty());
    EXPECT_THAT(append(kSecond, 30), ElementsAre(waiter));
}

TEST_F(FetchWaitersTest, PartitionThatIsNamedTwiceCountsOnce) {
    const WaiterId waiter = add({{kSecond, 50}, {kFirst, 50}, {kSecond, 50}}, 80, Instant{500});
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
    const WaiterId late = add({{kFirst, 1}}, 1, Instant{30});
    const WaiterId early = add({{kFirst, 1}}, 1, Instant{10});
    const WaiterId early_too = add({{kSecond, 1}}, 1, Instant{10});
    EXPECT_EQ(waiters.next_deadline(), Instant{10});
    EXPECT_THAT(advance(9), IsEmpty());
    EXPECT_THAT(advance(30), ElementsAre(early, early_too, late));
    EXPECT_EQ(waiters.next_deadline(), std::nullopt);
}

TEST_F(FetchWaitersTest, CompletedWaitersNeverCompleteAgain) {
    const WaiterId waiter = add({{kFirst, 10}}, 1, Instant{10});
    EXPECT_THAT(append(kFirst, 5), ElementsAre(waiter));
    EXPECT_THAT(append(kFirst, 5), IsEmpty());
    EXPECT_THAT(advance(100), IsEmpty());
    EXPECT_FALSE(waiters.waits_for(kFirst));
}

TEST_F(FetchWaitersTest, CancelledWaitersAreForgotten) {
    const WaiterId waiter = add({{kFirst, 10}}, 1, Instant{10});
    waiters.cancel(waiter);
    waiters.cancel(waiter);
    EXPECT_THAT(append(kFirst, 5), IsEmpty());
    EXPECT_EQ(waiters.next_deadline(), std::nullopt);
}

TEST_F(FetchWaitersTest, ChangeWakesEverybodyOnThatPartitionOnly) {
    const WaiterId both = add({{kFirst, 10}, {kSecond, 10}}, 5, Instant{10});
    const WaiterId other = add({{kSecond, 10}}, 5, Instant{10});
    EXPECT_THAT(change(kFirst), ElementsAre(both));
    EXPECT_THAT(append(kSecond, 5), ElementsAre(other));
}

TEST_F(FetchWaitersTest, ManyShortWaitsLeaveNoDeadlinesBehind) {
    const WaiterId patient = add({{kSecond, 10}}, 5, Instant{1'000'000});
    for (int i = 0; i < 100'000; ++i) {
        add({{kFirst, 10}}, 1, Instant{500'000 - i});
        ASSERT_EQ(append(kFirst, 1).size(), 1u);
    }
    EXPECT_EQ(waiters.next_deadline(), Instant{1'000'000});
    EXPECT_THAT(advance(1'000'000), ElementsAre(patient));
}

TEST_F(FetchWaitersTest, WhatATransactionHidesWakesNobodyWhoReadsCommittedRecords) {
    const WaiterId waiter = waiters.add(committed(Offset{5}, true));
    EXPECT_THAT(grow({.bytes = 100, .stable_end = Offset{5}, .is_stable = false}), IsEmpty());
    EXPECT_THAT(grow({.bytes = 100, .stable_end = Offset{5}, .is_stable = false}), IsEmpty());
    EXPECT_THAT(advance(500), ElementsAre(waiter));
}

TEST_F(FetchWaitersTest, HiddenRecordsThatShowLetTheirReaderLook) {
    const WaiterId first = waiters.add(committed(Offset{5}, false));
    // The older of two transactions ended, and then the newer one.
    EXPECT_THAT(grow({.bytes = 80, .stable_end = Offset{7}, .is_stable = false}),
                ElementsAre(FetchWaiters::Woken{first, FetchWaiters::Reason::look}));
    waiters.resume(first, committed(Offset{7}, false));
    EXPECT_THAT(grow({.bytes = 80, .stable_end = Offset{9}, .is_stable = true}),
                ElementsAre(FetchWaiters::Woken{first, FetchWaiters::Reason::look}));
}

TEST_F(FetchWaitersTest, CommittedRecordsCountWhileNothingHidesThem) {
    const WaiterId waiter = waiters.add(committed(Offset{5}, true, 150));
    // Two appends at once may both tell the end of the later one.
    EXPECT_THAT(grow({.bytes = 100, .stable_end = Offset{7}, .is_stable = true}), IsEmpty());
    EXPECT_THAT(grow({.bytes = 100, .stable_end = Offset{7}, .is_stable = true}),
                ElementsAre(FetchWaiters::Woken{waiter, FetchWaiters::Reason::enough}));
}

TEST_F(FetchWaitersTest, WhoLooksAndWaitsOnKeepsItsId) {
    const WaiterId waiter = add({{kFirst, 10}}, 5, Instant{100});
    EXPECT_THAT(change(kFirst), ElementsAre(waiter));
    waiters.resume(waiter, {.partitions = {{kFirst, 10}}, .missing_bytes = 3, .deadline = Instant{100}});
    EXPECT_THAT(append(kFirst, 2), IsEmpty());
    EXPECT_THAT(append(kFirst, 1), ElementsAre(waiter));
    EXPECT_THAT(advance(100), IsEmpty());
}

TEST_F(FetchWaitersTest, LookingAgainAndAgainLeavesNoDeadlinesBehind) {
    const WaiterId waiter = add({{kFirst, 10}}, 5, Instant{1'000'000});
    for (int i = 0; i < 100'000; ++i) {
        ASSERT_EQ(change(kFirst).size(), 1u);
        waiters.resume(waiter, {.partitions = {{kFirst, 10}}, .missing_bytes = 5, .deadline = Instant{1'000'000}});
    }
    EXPECT_LT(waiters.deadline_count(), 100u);
    EXPECT_THAT(advance(1'000'000), ElementsAre(waiter));
    EXPECT_EQ(waiters.next_deadline(), std::nullopt);
}

}  // namespace
}  // namespace partita::fetch
