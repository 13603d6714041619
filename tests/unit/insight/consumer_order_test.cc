// Tests for what a group was handed in wrong order after a growth, by the answers that the broker sent (H06), and for the records
// that are in danger before that (H03).

#include <optional>
#include <string>

#include "tests/unit/insight/consumer_order_fixture.h"

namespace partita::insight {
namespace {

TEST_F(ConsumerOrderTest, DangerIsToldFromTheGrowthOnWithTheRecordsWhoseKeysMoved) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    const auto danger = finding(HazardId::backlog_inversion);
    ASSERT_TRUE(danger);
    EXPECT_EQ(number(*danger, "backlog_records"), kOldRecords + kOtherRecords);
    EXPECT_EQ(number(*danger, "moved_backlog_records"), moved_);
    EXPECT_EQ(danger->count, moved_);
    billing().committed[1] = Offset{kOtherRecords};
    EXPECT_EQ(number(*finding(HazardId::backlog_inversion), "moved_backlog_records"), moved_from_old_);
    billing().committed[0] = Offset{kOldRecords};
    EXPECT_FALSE(finding(HazardId::backlog_inversion));
}

TEST_F(ConsumerOrderTest, AGroupThatReadsNewPartitionsFirstGotEachMovedKeyInWrongOrder) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    (void)findings();
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    EXPECT_FALSE(wrong_order()) << "the older records may still be skipped";
    deliver(kOld, 0, end(0));
    deliver(kOther, 0, end(1));
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_);
    EXPECT_EQ(told->severity, Severity::block);
    EXPECT_EQ(number(*told, "processed_keys"), 0);
    EXPECT_EQ(number(*told, "is_exact"), 1);
    EXPECT_EQ(told->examples.size(), Finding::kExamplesMax);
}

TEST_F(ConsumerOrderTest, OlderRecordsThatAreHandedOutAgainAreAWarning) {
    billing().committed = {Offset{0}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
    (void)findings();
    deliver(kOld, 0, end(0));
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    EXPECT_FALSE(wrong_order());
    deliver(kOld, 0, end(0));
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->severity, Severity::warn);
    EXPECT_EQ(told->count, moved_from_old_);
    EXPECT_EQ(number(*told, "given_back_keys"), moved_from_old_);
}

/// "billing" had members when the topic grew.
class GroupAtWorkTest : public ConsumerOrderTest {
  protected:
    GroupAtWorkTest() : ConsumerOrderTest({"billing"}) {
        billing().committed = {Offset{5}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
        (void)findings();
    }
    void deliver_new_partitions() {
        deliver({2}, 0, end(2));
        deliver({3}, 0, end(3));
    }
    /// It reads the new partitions, and then the old one from there on: the keys behind that are surely in wrong order.
    void expect_certainty_from(std::int64_t offset) {
        deliver_new_partitions();
        deliver(kOld, offset, end(0));
        const auto told = wrong_order();
        ASSERT_TRUE(told);
        EXPECT_EQ(told->severity, Severity::block);
        EXPECT_EQ(number(*told, "given_back_keys"), 0);
    }
};

TEST_F(GroupAtWorkTest, WhatItHadBeforeTheGrowthIsNotKnownIfItGoesBackToItsCommit) {
    deliver_new_partitions();
    deliver(kOld, 5, end(0));
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->severity, Severity::warn);
    EXPECT_EQ(number(*told, "keys"), 0);
    EXPECT_GT(number(*told, "given_back_keys"), 0);
    EXPECT_NE(told->condition.find("was handed, or may have been handed,"), std::string::npos) << told->condition;
}

TEST_F(GroupAtWorkTest, ACommitLongAgoDoesNotTellWhereItWas) {
    commit("billing", {{kOld, Offset{7}}});
    (void)findings();
    billing().committed[0] = Offset{7};
    deliver_new_partitions();
    wait(DeliveryOrder::kHandoverMs + 1);
    deliver(kOld, 7, end(0));
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(number(*told, "keys"), 0) << "its member may have had more, and crashed";
}

TEST_F(GroupAtWorkTest, ALaterGroupOfItsNameWasNotAtWork) {
    watch_.forget_group("billing");
    expect_certainty_from(5);
}

TEST_F(GroupAtWorkTest, APlaceThatItHadNotCommittedIsWhereItWas) { expect_certainty_from(7); }

TEST_F(GroupAtWorkTest, ACommitSinceTheGrowthTellsWhereItWas) {
    commit("billing", {{kOld, Offset{7}}});
    (void)findings();
    billing().committed[0] = Offset{7};
    (void)findings();
    expect_certainty_from(7);
}

// Members commit by themselves. But no member has finished a record that still lies in front of the group.
TEST_F(ConsumerOrderTest, CommitsOfSeveralMembersProveTheOrderOfAnUnreadBacklog) {
    families_ = known_families_;
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    billing().members.push_back({"billing-app", "/10.0.0.1", {{1}}, "billing-2"});
    constexpr Offset kRead{10};
    const auto unread = std::ranges::find_if(records_.keys[kOld], [&](const auto& record) {
        return record.first >= kRead && record.first.value < kOldRecords && home_of(record.second, 4) == PartitionIndex{2};
    });
    ASSERT_NE(unread, records_.keys[kOld].end());
    const auto later = std::ranges::find(records_.keys[{2}], unread->second, [](const auto& record) { return record.second; });
    add_key(unread->second, kOld, 0, unread->first.value);
    add_key(unread->second, {2}, 1, later->first.value);
    deliver(kOld, 0, kRead.value);
    deliver({2}, 0, end(2));
    commit("billing", {{kOld, kRead}, {{2}, Offset{end(2)}}});
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->severity, Severity::block);
    EXPECT_EQ(told->count, 1);
    EXPECT_EQ(number(*told, "overlapping_keys"), 0);
}

/// "billing" had members when the topic grew, and no look has found it so far.
class UnseenGroupAtWorkTest : public ConsumerOrderTest {
  protected:
    UnseenGroupAtWorkTest() : ConsumerOrderTest({"billing"}) {
        billing().committed = {Offset{5}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
        deliver({2}, 0, end(2));
        deliver({3}, 0, end(3));
    }
};

TEST_F(UnseenGroupAtWorkTest, APlaceInFrontOfItsFirstCommitIsCertain) {
    const Inversions::Positions before = {{kOld, Offset{5}}, {kOther, Offset{kOtherRecords}}};
    deliver(kOld, 0, end(0));
    commit("billing", {{kOld, Offset{end(0)}}}, &before);
    billing().committed[0] = Offset{end(0)};
    (void)findings();
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(number(*told, "given_back_keys"), 0) << "it went back to the start of the log, which it had not committed";
    EXPECT_GT(number(*told, "keys"), 0);
}

TEST_F(UnseenGroupAtWorkTest, APlaceThatTheFirstLookFindsCommittedIsNotCertain) {
    deliver(kOld, 5, end(0));
    (void)findings();
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(number(*told, "keys"), 0);
    EXPECT_GT(number(*told, "given_back_keys"), 0);
}

TEST_F(UnseenGroupAtWorkTest, APlaceThatTheFirstLookFindsNotCommittedIsCertain) {
    deliver(kOld, 0, end(0));
    EXPECT_FALSE(wrong_order()) << "the facts of the first look may be newer than its notes";
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(number(*told, "given_back_keys"), 0);
    EXPECT_GT(number(*told, "keys"), 0);
}

/// A first look so late that the group has committed everything by then.
class LateLookTest : public ConsumerOrderTest {
  protected:
    explicit LateLookTest(std::set<std::string> at_work = {"billing"}) : ConsumerOrderTest(std::move(at_work)) {
        billing().committed = {Offset{kOldRecords}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
    }
};

/// Two members: one was given the old partitions before the growth, the other one is given the new ones.
TEST_F(LateLookTest, AGroupThatWasAtWorkIsJudgedThoughItHasCommittedEverythingSince) {
    billing().members.push_back({"billing-app", "/10.0.0.1", {{2}, {3}}, "billing-2"});
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, kOldRecords, end(0), {3});
    (void)findings();
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(number(*told, "keys"), 0);
    EXPECT_GT(number(*told, "overlapping_keys"), 0) << "only the members know which record they took first";
}

// Three members come and go, and no two of them can be told from each other for each connection. But there are no more
// connections than members.
TEST_F(ConsumerOrderTest, ConnectionsOfMembersThatCameAndWentAreTheGroups) {
    billing().committed = {Offset{0}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
    billing().members.clear();
    (void)findings();
    const std::vector<PartitionIndex> all{{0}, {1}, {2}, {3}};
    const TimestampMs begin = now_;
    const auto at = [&](std::int64_t after_ms) { now_ = TimestampMs{begin.value + after_ms}; };
    constexpr ConnectionId kOne{21};
    constexpr ConnectionId kTwo{22};
    constexpr ConnectionId kThree{23};
    at(100);
    deliver({2}, 0, end(2), kOne);
    at(300);
    watch_.on_leave("billing", "one", ConnectionId{31}, TimestampMs{begin.value}, client_, all, now_);
    deliver({3}, 0, end(3), kTwo);
    at(800);
    deliver(kOther, kOtherRecords, end(1), kThree);
    at(1300);
    deliver(kOld, 0, end(0), kTwo);
    deliver(kOther, end(1), end(1), kThree);
    at(1400);
    watch_.on_leave("billing", "two", ConnectionId{32}, TimestampMs{begin.value + 50}, client_, all, now_);
    watch_.on_leave("billing", "three", ConnectionId{33}, TimestampMs{begin.value + 330}, client_, all, now_);
    for (const ConnectionId connection : {kOne, kTwo, kThree}) {
        connections_.closed.insert(connection);
    }
    (void)findings();
    wait(OrderWatch::kOwnerWaitMs + 1);
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(number(*told, "keys"), moved_from_old_);
    EXPECT_EQ(number(*told, "is_exact"), 1);
}

// In a rebalance no member holds anything, so a look may find a member without the partitions that it has just read.
TEST_F(ConsumerOrderTest, AReaderThatBeganBetweenTwoRebalancesIsTheMember) {
    billing().committed = {Offset{0}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
    constexpr ConnectionId kEarlier{21};
    fetch(client_, kEarlier, kOther, kOtherRecords);
    (void)findings();
    connections_.closed.insert(kEarlier);
    wait(100);
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, 0, end(0));
    billing().members[0].assigned.clear();
    (void)findings();
    (void)findings();
    wait(OrderWatch::kOwnerWaitMs + 1);
    assign_everything();
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(number(*told, "keys"), moved_from_old_);
    EXPECT_EQ(number(*told, "is_exact"), 1);
}

// The note of its departure comes with the next look.
TEST_F(ConsumerOrderTest, AMemberThatLeftBetweenTheNotesAndTheFactsOfALookReadForItsGroup) {
    billing().committed = {Offset{0}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
    billing().members.clear();
    (void)findings();
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, 0, end(0));
    EXPECT_FALSE(wrong_order());
    watch_.on_leave("billing", "one", ConnectionId{31}, now_, client_, std::vector<PartitionIndex>{{0}, {2}, {3}}, now_);
    (void)findings();
    wait(OrderWatch::kOwnerWaitMs + 1);
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(number(*told, "keys"), moved_from_old_);
    EXPECT_EQ(number(*told, "is_exact"), 1);
}

// The fetch waited at the end of a partition when the member left. The topic grew, and new records ended the wait. The client
// drops them, and the next member begins where the group had committed.
TEST_F(ConsumerOrderTest, AnAnswerToAMemberThatHasLeftMeanwhileWasToNobody) {
    billing().committed.assign(4, kNoOffset);
    billing().members.clear();
    (void)findings();
    constexpr ConnectionId kLeft{21};
    fetch(client_, kLeft, kOld, kOldRecords);
    asked_ = now_;
    wait(10);
    watch_.on_leave("billing", "one", ConnectionId{31}, now_, client_, std::vector<PartitionIndex>{{0}, {1}}, now_);
    wait(10);
    deliver(kOld, kOldRecords, end(0), kLeft);
    connections_.closed.insert(kLeft);
    asked_.reset();
    wait(100);
    connections_.open[kCoordinator] = {.id = kCoordinator, .born = now_};
    billing().members = {{"billing-app", "/10.0.0.1", {{0}, {1}, {2}, {3}}, "billing-1"}};
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, 0, end(0));
    (void)findings();
    wait(OrderWatch::kOwnerWaitMs + 1);
    const auto told = wrong_order();
    ASSERT_TRUE(told) << "it began at the start, not at the end of the old records";
    EXPECT_EQ(number(*told, "keys"), moved_from_old_);
    EXPECT_EQ(number(*told, "is_exact"), 1);
}

TEST_F(ConsumerOrderTest, AnswersToAConnectionThatMayBeOfOneOfTwoGroupsAreAWarningOfBoth) {
    add_group("audit", ConnectionId{5});
    billing().members[0].client_host = client_.address;
    groups_[1].committed.assign(4, Offset{0});
    billing().committed.assign(4, Offset{0});
    constexpr ConnectionId kOther{6};
    (void)findings();
    fetch(client_, kOther, kOld, 0);
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, 0, end(0));
    (void)findings();
    wait(OrderWatch::kOwnerWaitMs + 1);
    for (const std::string group : {"billing", "audit"}) {
        const auto told = wrong_order(group);
        ASSERT_TRUE(told) << group;
        EXPECT_EQ(told->severity, Severity::warn);
        EXPECT_EQ(number(*told, "keys"), 0);
        EXPECT_EQ(number(*told, "unattributed_keys"), moved_from_old_) << told->condition;
        EXPECT_EQ(number(*told, "is_exact"), 0);
        EXPECT_NE(told->condition.find("the broker does not know whether the connection that got them was this group's"),
                  std::string::npos)
            << told->condition;
    }
}

// Its commits follow the answers before a look takes its facts, and the notes of the answers come with the next look.
TEST_F(ConsumerOrderTest, AGroupThatHasReadEverythingBetweenTheNotesAndTheFactsOfALookIsJudged) {
    billing().committed = {Offset{0}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
    (void)findings();
    billing().committed = {Offset{kOldRecords}, Offset{kOtherRecords}, Offset{end(2)}, Offset{end(3)}};
    (void)findings();
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, 0, end(0));
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(number(*told, "keys"), moved_from_old_);
}

TEST_F(ConsumerOrderTest, AGroupThatHasCommittedEverythingFromBeforeTheGrowthIsWatchedNoLonger) {
    billing().committed = {Offset{0}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
    (void)findings();
    deliver(kOld, 0, end(0));
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    (void)findings();
    commit("billing", {{kOld, Offset{end(0)}}});
    billing().committed[0] = Offset{end(0)};
    (void)findings();
    (void)findings();
    deliver(kOld, 0, end(0));
    EXPECT_FALSE(wrong_order()) << "it goes back to read once more what it had finished";
}

TEST_F(ConsumerOrderTest, AGroupThatCommitsNothingIsWatchedForSomeTime) {
    billing().committed = {Offset{0}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
    (void)findings();
    deliver(kOld, 0, end(0));
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    (void)findings();
    wait(OrderWatch::kUncommittedMs);
    (void)findings();
    deliver(kOld, 0, end(0));
    EXPECT_FALSE(wrong_order());
}

TEST_F(ConsumerOrderTest, AGroupThatReadsOldPartitionsFirstGotNothingInWrongOrder) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    (void)findings();
    deliver(kOld, 0, kOldRecords);
    deliver(kOther, 0, kOtherRecords);
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, kOldRecords, end(0));
    deliver(kOther, kOtherRecords, end(1));
    EXPECT_FALSE(wrong_order());
}

// A fast reader has committed everything before anybody looks.
TEST_F(ConsumerOrderTest, ReadersThatAreFasterThanLooksAreTold) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    (void)findings();
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, 0, end(0));
    deliver(kOther, 0, end(1));
    commit("billing", {{kOld, Offset{end(0)}}, {kOther, Offset{end(1)}}, {{2}, Offset{end(2)}}, {{3}, Offset{end(3)}}});
    billing().committed = {Offset{end(0)}, Offset{end(1)}, Offset{end(2)}, Offset{end(3)}};
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_);
    EXPECT_EQ(number(*told, "processed_keys"), moved_);
    EXPECT_FALSE(finding(HazardId::backlog_inversion));
    EXPECT_TRUE(wrong_order()) << "what was suffered stays told";
}

TEST_F(ConsumerOrderTest, ReadersOfAGroupThatHadReadEverythingAreNoMatter) {
    billing().committed = {Offset{kOldRecords}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
    (void)findings();
    deliver({2}, 0, end(2));
    (void)findings();
    // A person rewinds the group: these records were handed out before the growth.
    deliver(kOld, 0, end(0));
    deliver(kOther, 0, end(1));
    EXPECT_FALSE(wrong_order());
}

TEST_F(ConsumerOrderTest, AGroupThatCameAfterTheGrowthAndBeganAtTheStartIsTold) {
    billing().committed = {Offset{kOldRecords}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
    (void)findings();
    groups_.clear();
    add_group("late", kCoordinator);
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, 0, end(0));
    deliver(kOther, 0, end(1));
    const auto told = wrong_order("late");
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_);
}

TEST_F(ConsumerOrderTest, KeysWithBothRecordsInOneAnswerHaveTheirOwnNumber) {
    billing().committed = {Offset{0}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
    (void)findings();
    ++answer_;
    for (const std::int32_t partition : {1, 2, 3}) {
        deliver_too({partition}, partition == 1 ? kOtherRecords : 0, end(partition));
    }
    deliver_too(kOld, 0, end(0));
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_from_old_);
    EXPECT_EQ(number(*told, "one_answer_keys"), moved_from_old_);
}

TEST_F(ConsumerOrderTest, LooksThatRunOutOfTheirBudgetGoOnLater) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, 0, end(0));
    deliver(kOther, 0, end(1));
    int looks = 0;
    std::optional<Finding> told;
    do {
        ASSERT_LT(++looks, 1000);
        records_.budget = 7;
        told = wrong_order();
    } while (watch_.is_reading());
    EXPECT_GT(looks, 10);
    told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_);
}

// A read_uncommitted reader is ahead of what is decided. Records that may still be aborted prove nothing.
TEST_F(ConsumerOrderTest, RecordsThatAreNotDecidedYetAreWaitedFor) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    records_.decided_to = Offset{0};
    deliver({2}, 0, end(2));
    deliver(kOld, 0, end(0));
    deliver(kOther, 0, end(1));
    EXPECT_FALSE(wrong_order());
    records_.decided_to = Offset{INT64_MAX};
    EXPECT_TRUE(wrong_order());
}

TEST_F(ConsumerOrderTest, WhatWasHandedOutIsToldUntilTheOlderRecordsAreGone) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    (void)findings();
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, 0, end(0));
    deliver(kOther, 0, end(1));
    ASSERT_TRUE(wrong_order());
    starts_[0] = Offset{kOldRecords};
    EXPECT_TRUE(wrong_order());
    starts_[1] = Offset{kOtherRecords};
    EXPECT_FALSE(wrong_order());
}

TEST_F(ConsumerOrderTest, ADeletedGroupIsForgotten) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    (void)findings();
    deliver({2}, 0, end(2));
    deliver(kOld, 0, end(0));
    ASSERT_TRUE(wrong_order());
    watch_.forget_group("billing");
    EXPECT_FALSE(wrong_order());
}

TEST_F(ConsumerOrderTest, DeliveriesThatWereLostMakeTheNumbersLowerBounds) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    (void)findings();
    deliver({2}, 0, end(2));
    deliver(kOld, 0, end(0));
    watch_.lose_deliveries();
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(number(*told, "is_exact"), 0);
    EXPECT_TRUE(told->condition.contains("at least")) << told->condition;
}

class IgnoredKeysTest : public ConsumerWatchTest {
  protected:
    IgnoredKeysTest() : ConsumerWatchTest({Offset{400}, Offset{400}}) { assign_everything(); }
};

// Producers that ignore keys put a key's records into any partition: there was no order before the growth either.
TEST_F(IgnoredKeysTest, HaveNothingToTell) {
    for (std::int64_t offset = 0; offset < 500; ++offset) {
        for (std::int32_t partition = 0; partition < 4; ++partition) {
            records_.keys[{partition}][Offset{offset}] = "key-" + std::to_string((offset * 7 + partition * 3) % 100);
        }
    }
    ends_.assign(4, Offset{500});
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    EXPECT_FALSE(finding(HazardId::backlog_inversion));
    deliver({2}, 0, 500);
    deliver(kOld, 0, 500);
    deliver({1}, 0, 500);
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerOrderTest, AKeyThatTwoGrowthsMovedCountsOnce) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    (void)findings();
    std::map<PartitionIndex, std::int64_t> ends;
    const std::vector<Offset> before = ends_;
    grow(8);
    billing().committed.resize(8, kNoOffset);
    billing().members[0].assigned = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
    for (std::int32_t partition = 0; partition < 4; ++partition) {
        for (std::int64_t offset = 0; offset < before[static_cast<std::size_t>(partition)].value; ++offset) {
            const std::string key = records_.keys[{partition}].at(Offset{offset});
            const PartitionIndex home = home_of(key, 8);
            if (home.value >= 4) {
                records_.keys[home][Offset{ends[home]++}] = key;
            }
        }
    }
    (void)findings();
    std::set<std::string> wrong;
    for (std::int32_t partition = 7; partition >= 0; --partition) {
        const std::int64_t to = partition < 4 ? before[static_cast<std::size_t>(partition)].value : ends[{partition}];
        if (to > 0) {
            deliver({partition}, 0, to);
        }
    }
    // Everything new came before everything old, so each key that moved at any growth is wrong.
    for (const PartitionIndex partition : {kOld, kOther}) {
        const std::int64_t cut = partition == kOld ? kOldRecords : kOtherRecords;
        for (std::int64_t offset = 0; offset < cut; ++offset) {
            const std::string& key = records_.keys[partition].at(Offset{offset});
            if (home_of(key, 4) != partition || home_of(key, 8) != partition) {
                wrong.insert(key);
            }
        }
    }
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, static_cast<std::int64_t>(wrong.size()));
}

}  // namespace
}  // namespace partita::insight
