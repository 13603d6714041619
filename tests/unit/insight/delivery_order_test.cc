#include "broker/insight/order/delivery_order.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "broker/insight/order/key_cuts.h"

namespace partita::insight {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr PartitionIndex kOld{0};
constexpr PartitionIndex kNew{6};

/// One key: its last record before the growth is offset 9 of the old partition, its first after it offset 0 of the new one.
class DeliveryOrderTest : public ::testing::Test {
  protected:
    DeliveryOrderTest() {
        cuts_.add_before(kOld, Offset{9}, 77);
        cuts_.add_after(kNew, Offset{0}, 77);
    }

    void hand_out(PartitionIndex partition, std::int64_t from, std::int64_t to, std::uint64_t reader = 1) {
        hand_out_in(++answer_, partition, from, to, reader);
    }
    void hand_out_in(std::uint64_t answer, PartitionIndex partition, std::int64_t from, std::int64_t to, std::uint64_t reader = 1,
                     bool is_attributed = true) {
        order_.hand_out({.reader = reader,
                         .answer = answer,
                         .partition = partition,
                         .from = Offset{from},
                         .to = Offset{to},
                         .time = TimestampMs{static_cast<std::int64_t>(answer) * 100},
                         .is_attributed = is_attributed},
                        cuts_.table());
    }
    void hand_out_to_a_stranger(PartitionIndex partition, std::int64_t from, std::int64_t to) {
        hand_out_in(++answer_, partition, from, to, 99, false);
    }
    [[nodiscard]] std::int64_t handed_out() const { return order_.counts().handed_out; }

    KeyCuts cuts_;
    DeliveryOrder order_;
    std::uint64_t answer_ = 0;
};

TEST_F(DeliveryOrderTest, NewerRecordBeforeTheOlderOneIsWrong) {
    hand_out(kOld, 0, 5);
    hand_out(kNew, 0, 1, 2);
    EXPECT_EQ(handed_out(), 0) << "the older record may still be skipped";
    hand_out(kOld, 5, 10);
    EXPECT_EQ(order_.counts(),
              (DeliveryOrder::Counts{.handed_out = 1, .in_two_members = 1, .first = TimestampMs{300}, .last = TimestampMs{300}}));
    const std::vector<WrongKey> wrong = order_.wrong_keys();
    ASSERT_EQ(wrong.size(), 1U);
    EXPECT_EQ(wrong[0].cut, (KeyCut{77, kOld, kNew, Offset{9}, Offset{0}}));
    EXPECT_EQ(wrong[0].later_reader, 2U);
    EXPECT_EQ(wrong[0].later_time, TimestampMs{200});
    EXPECT_EQ(wrong[0].earlier_time, TimestampMs{300});
}

TEST_F(DeliveryOrderTest, OlderRecordFirstIsRight) {
    hand_out(kOld, 0, 10);
    hand_out(kNew, 0, 1);
    EXPECT_EQ(handed_out(), 0);
    hand_out(kOld, 0, 10);
    EXPECT_EQ(handed_out(), 0) << "what is handed out again was handed out before";
}

TEST_F(DeliveryOrderTest, AnAnswerToAReaderThatIsNotAttributedLeavesTheKeyOpen) {
    hand_out(kNew, 0, 1);
    hand_out_to_a_stranger(kOld, 5, 10);
    EXPECT_EQ(order_.counts(), (DeliveryOrder::Counts{.unattributed = 1}));
    EXPECT_TRUE(order_.has_told());
    EXPECT_TRUE(order_.wrong_keys().empty());
    EXPECT_EQ(order_.unattributed().size(), 1U);
    EXPECT_FALSE(order_.begin_of(kOld)) << "it does not tell where the group was";
    hand_out(kOld, 0, 10);
    EXPECT_EQ(order_.counts().handed_out, 0) << "the group may have had the older record by the answer before";
    EXPECT_EQ(order_.counts().unattributed, 1);
}

TEST_F(DeliveryOrderTest, AnOlderRecordThatPerhapsAnotherReaderGotFirstIsGivenBack) {
    hand_out_to_a_stranger(kOld, 5, 10);
    hand_out(kNew, 0, 1);
    EXPECT_FALSE(order_.has_told());
    hand_out(kOld, 5, 10);
    EXPECT_EQ(order_.counts().handed_out, 0);
    EXPECT_EQ(order_.counts().given_back, 1);
}

// librdkafka drops its queue of a partition that is paused, and fetches from the application's position when it is resumed.
TEST_F(DeliveryOrderTest, OlderRecordThatIsHandedOutAgainAfterTheNewerOneWasGivenBack) {
    hand_out(kOld, 0, 10);
    hand_out(kNew, 0, 1);
    hand_out(kOld, 5, 10);
    EXPECT_EQ(order_.counts(), (DeliveryOrder::Counts{.given_back = 1}));
    EXPECT_TRUE(order_.has_told());
    EXPECT_EQ(order_.given_back().size(), 1U);
    order_.forget_before(kOld, Offset{10});
    EXPECT_FALSE(order_.has_told());
}

TEST_F(DeliveryOrderTest, OlderRecordThatIsHandedOutAgainWithoutNeedWasNotGivenBack) {
    hand_out(kOld, 0, 10);
    hand_out(kOld, 5, 10);
    hand_out(kNew, 0, 1);
    EXPECT_FALSE(order_.has_told()) << "the newer record came last";
    hand_out(kOld, 0, 5);
    EXPECT_FALSE(order_.has_told()) << "it ends before the older record";
    order_.commit(kOld, Offset{10});
    hand_out(kOld, 5, 10);
    EXPECT_FALSE(order_.has_told()) << "the group had finished the older record";
}

TEST_F(DeliveryOrderTest, ReaderThatGoesBackToItsCommitDroppedWhatFollows) {
    hand_out(kOld, 0, 10);
    hand_out(kNew, 0, 1);
    order_.commit(kOld, Offset{5});
    order_.commit(kNew, Offset{1});
    hand_out(kOld, 5, 10);
    EXPECT_EQ(handed_out(), 1);
    EXPECT_EQ(order_.counts().given_back, 0);
    EXPECT_EQ(order_.counts().processed, 1);
}

TEST_F(DeliveryOrderTest, ReaderThatBeginsBehindTheOlderRecordHadItBeforeTheWatch) {
    hand_out(kNew, 0, 1);
    hand_out(kOld, 10, 20);
    EXPECT_EQ(handed_out(), 0);
    hand_out(kOld, 0, 10);
    EXPECT_EQ(handed_out(), 0);
}

TEST_F(DeliveryOrderTest, BothInOneAnswerHaveANumberOfTheirOwn) {
    hand_out(kOld, 0, 1);
    hand_out_in(7, kNew, 0, 1);
    hand_out_in(7, kOld, 1, 10);
    EXPECT_EQ(order_.counts().handed_out, 1);
    EXPECT_EQ(order_.counts().in_one_answer, 1);
}

TEST_F(DeliveryOrderTest, OlderRecordEarlierInTheSameAnswerIsRight) {
    hand_out_in(7, kOld, 0, 10);
    hand_out_in(7, kNew, 0, 1);
    EXPECT_EQ(handed_out(), 0);
}

TEST_F(DeliveryOrderTest, CommitBehindTheNewerRecordMakesItProcessed) {
    hand_out(kOld, 0, 5);
    hand_out(kNew, 0, 1);
    order_.commit(kNew, Offset{0});
    hand_out(kOld, 5, 10);
    EXPECT_EQ(order_.counts().processed, 0);
    order_.commit(kNew, Offset{1});
    EXPECT_EQ(order_.counts().processed, 1);
    EXPECT_EQ(order_.counts().handed_out, 1);
}

TEST_F(DeliveryOrderTest, NewerRecordThatIsHandedOutAgainWithoutACommitWasGivenBack) {
    hand_out(kOld, 0, 5, 1);
    hand_out(kNew, 0, 1, 2);
    hand_out(kOld, 5, 10, 1);
    EXPECT_EQ(handed_out(), 1);
    hand_out(kNew, 0, 1, 3);
    EXPECT_EQ(handed_out(), 0);
    EXPECT_EQ(order_.counts().given_back, 1);
    EXPECT_THAT(order_.wrong_keys(), IsEmpty());
}

TEST_F(DeliveryOrderTest, NewerRecordThatWasCommittedIsNotGivenBack) {
    hand_out(kOld, 0, 5, 1);
    hand_out(kNew, 0, 1, 2);
    order_.commit(kNew, Offset{1});
    hand_out(kOld, 5, 10, 1);
    hand_out(kNew, 0, 1, 3);
    EXPECT_EQ(order_.counts().processed, 1);
    EXPECT_EQ(order_.counts().given_back, 0);
}

TEST_F(DeliveryOrderTest, NewerRecordThatIsHandedOutAgainBeforeTheOlderOneIsStillWrong) {
    hand_out(kOld, 0, 5, 1);
    hand_out(kNew, 0, 1, 2);
    hand_out(kNew, 0, 1, 3);
    hand_out(kOld, 5, 10, 1);
    ASSERT_EQ(handed_out(), 1);
    EXPECT_EQ(order_.wrong_keys()[0].later_reader, 3U);
}

TEST_F(DeliveryOrderTest, OlderRecordThatNoLongerExistsIsNotWaitedFor) {
    hand_out(kOld, 0, 5);
    hand_out(kNew, 0, 1);
    order_.forget_before(kOld, Offset{10});
    hand_out(kOld, 10, 20);
    EXPECT_EQ(order_.counts(), DeliveryOrder::Counts{});
}

// At a rebalance the old owner commits what its application had, and drops the rest.
TEST_F(DeliveryOrderTest, WhatAnOldOwnerDroppedAtAHandoverCountsAsNotHandedOut) {
    hand_out(kOld, 0, 5);
    hand_out(kNew, 0, 1);
    hand_out(kOld, 5, 10);
    ASSERT_EQ(handed_out(), 1);
    order_.commit(kOld, Offset{7});
    hand_out(kOld, 7, 10, 2);
    EXPECT_EQ(handed_out(), 1) << "the newer record stands";
    order_.commit(kNew, Offset{0});
    hand_out(kNew, 0, 1, 2);
    EXPECT_EQ(order_.counts(), DeliveryOrder::Counts{}) << "the newer record was dropped too, and now comes last";
}

TEST_F(DeliveryOrderTest, OlderRecordThatWasDroppedAtAHandoverComesAfterTheNewerOne) {
    hand_out(kOld, 0, 10);
    hand_out(kNew, 0, 1);
    ASSERT_EQ(handed_out(), 0);
    order_.commit(kNew, Offset{1});
    order_.commit(kOld, Offset{0});
    hand_out(kOld, 0, 10, 2);
    EXPECT_EQ(handed_out(), 1);
    EXPECT_EQ(order_.counts().processed, 1);
}

TEST_F(DeliveryOrderTest, NewReaderWithoutACommitBeforeItOrAfterALongTimeIsNoHandover) {
    hand_out(kOld, 0, 10);
    hand_out(kNew, 0, 1);
    hand_out(kOld, 0, 10, 2);
    EXPECT_EQ(handed_out(), 0) << "the application may have had the older record before its reader died";
    order_.commit(kNew, Offset{1});
    order_.commit(kOld, Offset{0});
    answer_ += DeliveryOrder::kHandoverMs / 100;
    hand_out(kOld, 0, 10, 3);
    EXPECT_EQ(handed_out(), 0);
}

TEST_F(DeliveryOrderTest, WrongKeyIsInTwoMembersUnlessTheNewerRecordIsFinished) {
    hand_out(kOld, 0, 5);
    hand_out(kNew, 0, 1, 2);
    DeliveryOrder finished = order_;
    hand_out(kOld, 5, 10);
    EXPECT_EQ(order_.counts().in_two_members, 1);
    std::swap(order_, finished);
    order_.commit(kNew, Offset{1});
    hand_out(kOld, 5, 10);
    EXPECT_EQ(order_.counts().handed_out, 1);
    EXPECT_EQ(order_.counts().in_two_members, 0);
}

TEST_F(DeliveryOrderTest, AReaderThatGoesOnBehindRecordsThatItReadAgainDroppedNothing) {
    hand_out(kOld, 0, 10);
    hand_out(kOld, 0, 5, 2);
    order_.commit(kOld, Offset{5});
    hand_out(kNew, 0, 1, 2);
    hand_out(kOld, 5, 10, 2);
    EXPECT_EQ(handed_out(), 0) << "the first reader had the older record";
}

TEST_F(DeliveryOrderTest, DoubtOfABeginEndsWhereItsWatchBegan) {
    for (const std::int64_t until : {9, 10}) {
        order_ = {};
        order_.doubt_begin(kOld, Offset{until});
        hand_out(kNew, 0, 1);
        EXPECT_EQ(order_.is_unread(kOld, Offset{9}), false) << "nothing of the partition was handed out";
        hand_out(kOld, 5, 8);
        EXPECT_EQ(order_.is_unread(kOld, Offset{9}), until == 9);
        hand_out(kOld, 8, 10);
        EXPECT_EQ(handed_out(), until == 9 ? 1 : 0);
        EXPECT_EQ(order_.counts().given_back, until == 9 ? 0 : 1);
    }
}

TEST_F(DeliveryOrderTest, RecordsInTwoReadersAtOnceOverlap) {
    hand_out(kOld, 0, 10);
    hand_out(kNew, 0, 1, 2);
    EXPECT_EQ(order_.counts(), (DeliveryOrder::Counts{.overlapping = 1}));
}

TEST_F(DeliveryOrderTest, RecordFromBeforeTheWatchMayStillBeWithAnotherMemberOfAGroupAtWork) {
    hand_out(kOld, 10, 12);
    hand_out(kNew, 0, 1, 2);
    EXPECT_EQ(order_.counts().overlapping, 0) << "a group that was away has finished what lies before";
    for (const std::int64_t committed : {5, 10}) {
        order_ = {};
        order_.begin_at_work(std::vector<Offset>{Offset{committed}});
        EXPECT_FALSE(order_.committed(kOld).has_value()) << "no commit since the watch began";
        hand_out(kOld, 10, 12);
        hand_out(kNew, 0, 1, 2);
        EXPECT_EQ(order_.counts().overlapping, committed == 5 ? 1 : 0);
    }
}

TEST_F(DeliveryOrderTest, RecordFromBeforeTheWatchOverlapsIfAnotherMemberIsGivenTheNewerOneFirst) {
    struct Case {
        std::int64_t committed;
        std::uint64_t old_reader;
        std::int64_t overlapping;
    };
    for (const Case& each : {Case{5, 1, 1}, Case{10, 1, 0}, Case{5, 2, 0}}) {
        order_ = {};
        order_.begin_at_work(std::vector<Offset>{Offset{each.committed}});
        hand_out(kNew, 0, 1, 2);
        hand_out(kOld, 10, 12, each.old_reader);
        EXPECT_EQ(order_.counts(), (DeliveryOrder::Counts{.overlapping = each.overlapping})) << each.committed;
    }
    order_ = {};
    hand_out(kNew, 0, 1, 2);
    hand_out(kOld, 10, 12);
    EXPECT_EQ(order_.counts(), DeliveryOrder::Counts{}) << "a group that was away has finished what lies before";
}

TEST_F(DeliveryOrderTest, PositionThatWasReachedUnseenOverlapsOnlyIfTheGroupHasSeveralReaders) {
    order_.begin_at_work({});
    hand_out(kNew, 0, 1, 2);
    DeliveryOrder several = order_;
    order_.reach(kOld, Offset{10});
    EXPECT_EQ(order_.counts(), DeliveryOrder::Counts{});
    std::swap(order_, several);
    hand_out({9}, 0, 1, 1);
    order_.reach(kOld, Offset{10});
    EXPECT_EQ(order_.counts(), (DeliveryOrder::Counts{.overlapping = 1}));
}

TEST_F(DeliveryOrderTest, RecordThatIsFinishedWhenTheNewerOneComesDoesNotOverlap) {
    hand_out(kOld, 0, 10);
    order_.commit(kOld, Offset{10});
    hand_out(kNew, 0, 1, 2);
    EXPECT_EQ(order_.counts(), DeliveryOrder::Counts{});
}

TEST_F(DeliveryOrderTest, KeyWithTwoCutsCountsOnce) {
    KeyCuts two;
    two.add_before(kOld, Offset{9}, 77, 0);
    two.add_before({1}, Offset{9}, 77, 1);
    two.add_after(kNew, Offset{0}, 77);
    cuts_ = two;
    hand_out(kOld, 0, 1);
    hand_out({1}, 0, 1);
    hand_out(kNew, 0, 1);
    hand_out(kOld, 1, 10);
    hand_out({1}, 1, 10);
    EXPECT_EQ(handed_out(), 1);
    EXPECT_EQ(order_.wrong_keys().size(), 2U);
}

TEST_F(DeliveryOrderTest, MoreKeysThanTheLimitMakeTheNumbersLowerBounds) {
    KeyCuts many;
    constexpr auto kKeys = static_cast<std::int64_t>(DeliveryOrder::kKeysMax) + 1;
    for (std::int64_t key = 0; key < kKeys; ++key) {
        many.add_before(kOld, Offset{key}, static_cast<std::uint64_t>(key) + 1);
    }
    for (std::int64_t key = 0; key < kKeys; ++key) {
        many.add_after(kNew, Offset{key}, static_cast<std::uint64_t>(key) + 1);
    }
    cuts_ = many;
    hand_out(kOld, 0, 0);
    hand_out(kNew, 0, kKeys - 1);
    EXPECT_TRUE(order_.counts().is_exact);
    hand_out(kNew, kKeys - 1, kKeys);
    EXPECT_FALSE(order_.counts().is_exact);
    hand_out(kOld, 0, kKeys);
    EXPECT_EQ(handed_out(), kKeys - 1);
}

/// Readers that read old and new partitions in any order, each partition from its begin on. The oracle looks at every pair of
/// records of a key.
TEST(DeliveryOrderOracle, CountsTheKeysThatEveryPairOfRecordsShows) {
    std::mt19937 random(11);
    std::int64_t wrong_in_all = 0;
    for (int round = 0; round < 300; ++round) {
        const auto old_count = static_cast<std::int32_t>(1 + random() % 4);
        const auto new_count = static_cast<std::int32_t>(old_count + 1 + random() % 4);
        const std::uint64_t keys = 1 + random() % 30;
        struct Record {
            std::uint64_t key = 0;
            bool is_after = false;
            std::uint64_t handed = 0;
        };
        std::vector<std::vector<Record>> logs(static_cast<std::size_t>(new_count));
        for (std::uint64_t record = 0; record < 200; ++record) {
            const bool is_after = record >= 100;
            const std::uint64_t key = 1 + random() % keys;
            logs[key * 7919 % static_cast<std::uint64_t>(is_after ? new_count : old_count)].push_back({key, is_after});
        }
        KeyCuts cuts;
        for (const bool is_after : {false, true}) {
            for (std::int32_t partition = 0; partition < new_count; ++partition) {
                const auto& log = logs[static_cast<std::size_t>(partition)];
                for (std::size_t offset = 0; offset < log.size(); ++offset) {
                    if (log[offset].is_after == is_after) {
                        is_after ? cuts.add_after({partition}, Offset{static_cast<std::int64_t>(offset)}, log[offset].key)
                                 : cuts.add_before({partition}, Offset{static_cast<std::int64_t>(offset)}, log[offset].key);
                    }
                }
            }
        }
        DeliveryOrder order;
        std::vector<std::size_t> positions(logs.size(), 0);
        // All partitions are read from their start, so that nothing counts as read before the watch.
        for (std::uint64_t step = 1; step < 400; ++step) {
            const std::size_t partition = random() % logs.size();
            auto& log = logs[partition];
            const std::size_t from = positions[partition];
            const std::size_t to = std::min(log.size(), from + random() % 9);
            for (std::size_t offset = from; offset < to; ++offset) {
                log[offset].handed = step;
            }
            order.hand_out({.reader = 1 + partition,
                            .answer = step,
                            .partition = {static_cast<std::int32_t>(partition)},
                            .from = Offset{static_cast<std::int64_t>(from)},
                            .to = Offset{static_cast<std::int64_t>(to)},
                            .time = TimestampMs{static_cast<std::int64_t>(step)}},
                           cuts.table());
            positions[partition] = to;
        }
        std::set<std::uint64_t> wrong;
        for (std::size_t from = 0; from < logs.size(); ++from) {
            for (const Record& earlier : logs[from]) {
                for (std::size_t to = 0; to < logs.size(); ++to) {
                    for (const Record& later : logs[to]) {
                        if (from != to && !earlier.is_after && later.is_after && earlier.key == later.key && later.handed != 0 &&
                            earlier.handed > later.handed) {
                            wrong.insert(earlier.key);
                        }
                    }
                }
            }
        }
        ASSERT_EQ(order.counts().handed_out, static_cast<std::int64_t>(wrong.size())) << "round " << round;
        wrong_in_all += static_cast<std::int64_t>(wrong.size());
    }
    EXPECT_GT(wrong_in_all, 1000) << "the rounds must make keys in wrong order";
}

}  // namespace
}  // namespace partita::insight
