#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "broker/expansion/outside_readers.h"
#include "tests/unit/expansion/consumer_watch_fixture.h"

namespace partita::expansion {
namespace {

TEST_F(ConsumerWatchTest, AGroupWithoutTheNewPartitionsIsBlindWhileRecordsWait) {
    wait(BlindGroups::kBlindMs);
    EXPECT_FALSE(finding(HazardId::group_blind)) << "nothing waits";
    ends_[2] = Offset{9};
    const auto blind = finding(HazardId::group_blind);
    ASSERT_TRUE(blind);
    EXPECT_EQ(blind->count, 9);
    assign_everything();
    EXPECT_FALSE(finding(HazardId::group_blind));
}

TEST_F(ConsumerWatchTest, ARebalanceMakesNoGroupBlind) {
    ends_[2] = Offset{9};
    wait(BlindGroups::kBlindMs);
    assign_everything();
    EXPECT_FALSE(finding(HazardId::group_blind));
    wait(60'000);
    EXPECT_FALSE(finding(HazardId::group_blind));
    billing().members[0].assigned = {{0}, {1}};
    wait(1000);
    EXPECT_FALSE(finding(HazardId::group_blind)) << "partitions change hands";
    wait(BlindGroups::kBlindMs);
    EXPECT_TRUE(finding(HazardId::group_blind)) << "nobody took them";
}

TEST_F(ConsumerWatchTest, AGroupThatIsBlindForTheFirstGrowthStaysSoThroughTheSecond) {
    ends_[2] = Offset{9};
    wait(BlindGroups::kBlindMs);
    ASSERT_TRUE(finding(HazardId::group_blind));
    grow(8);
    const auto blind = finding(HazardId::group_blind);
    ASSERT_TRUE(blind);
    EXPECT_EQ(blind->count, 9);
    EXPECT_EQ(blind->numbers[1], (FindingNumber{"partitions", 1})) << "of the others nobody could know yet";
}

TEST_F(ConsumerWatchTest, AGroupHasTimeToTakeNewPartitions) {
    ends_[2] = Offset{9};
    wait(BlindGroups::kBlindMs - 1);
    EXPECT_FALSE(finding(HazardId::group_blind));
}

TEST_F(ConsumerWatchTest, AReaderOutsideOfGroupsIsNamedUntilItReadsNewPartitions) {
    const ClientIdentity flink{"flink", "/10.0.0.2"};
    wait(BlindGroups::kBlindMs);
    fetch(flink, {3}, {0}, 5);
    fetch(flink, {3}, {1}, 5);
    const auto manual = finding(HazardId::manual_readers);
    ASSERT_TRUE(manual);
    EXPECT_EQ(manual->subject.client_id, "flink");
    EXPECT_EQ(manual->count, 2);
    EXPECT_FALSE(finding(HazardId::external_offsets));
    fetch(flink, {3}, {2}, 0);
    EXPECT_FALSE(finding(HazardId::manual_readers));
    const auto external = finding(HazardId::external_offsets);
    ASSERT_TRUE(external);
    EXPECT_EQ(external->subject.client_id, "flink");
    wait(kReaderSilentMs + 1);
    EXPECT_FALSE(finding(HazardId::external_offsets));
}

TEST_F(ConsumerWatchTest, AMemberThatLeftIsNoReaderOutsideOfGroups) {
    assign_everything();
    fetch({0}, 5);
    fetch(kNew, 5);
    EXPECT_FALSE(finding(HazardId::external_offsets));
    billing().members.clear();
    wait(1000);
    fetch(kNew, 6);
    EXPECT_FALSE(finding(HazardId::external_offsets)) << "its last fetch was under way";
    wait(BlindGroups::kBlindMs);
    fetch(kNew, 7);
    EXPECT_TRUE(finding(HazardId::external_offsets)) << "it goes on by itself";
}

TEST_F(ConsumerWatchTest, AMemberThatFetchedToTheLastIsNoReaderOutsideOfGroupsEither) {
    assign_everything();
    fetch(kNew, 5);
    (void)findings();
    wait(4000);
    fetch(kNew, 6);
    billing().members.clear();
    for (int second = 0; second < 70; ++second) {
        wait(1000);
        EXPECT_FALSE(finding(HazardId::external_offsets)) << second;
    }
}

TEST_F(ConsumerWatchTest, AMemberThatCameReadAndLeftBetweenTwoLooksIsNoReaderOutsideOfGroups) {
    fetch({"visitor", "/10.0.0.7"}, {21}, kOld, 0);
    fetch({"visitor", "/10.0.0.7"}, {21}, kNew, 0);
    watch_.on_leave("billing", "visitor-1", {20}, kNoTimestamp, {"visitor", "/10.0.0.7"}, std::vector<PartitionIndex>{kOld, kNew},
                    now_);
    connections_.closed = {{20}, {21}};
    EXPECT_FALSE(finding(HazardId::external_offsets));
    EXPECT_FALSE(finding(HazardId::replay_inversion));
}

TEST_F(ConsumerWatchTest, AMirrorIsToldByItsName) {
    const ClientIdentity mirror{"A->B|MirrorSourceConnector-0|replication-consumer", "/10.0.0.2"};
    fetch(mirror, {4}, {0}, 5);
    const auto copied = finding(HazardId::mirrors);
    ASSERT_TRUE(copied);
    EXPECT_NE(copied->condition.find("none of the new partitions"), std::string::npos);
    fetch(mirror, {4}, kNew, 0);
    EXPECT_EQ(finding(HazardId::mirrors)->condition.find("none of the new partitions"), std::string::npos);
}

TEST_F(ConsumerWatchTest, SeededOffsetsAreListedUntilTheGroupCommitsOverThem) {
    billing().seeded_partitions = 2;
    const auto seeded = finding(HazardId::seeded_offsets);
    ASSERT_TRUE(seeded);
    EXPECT_EQ(seeded->count, 2);
    EXPECT_EQ(seeded->subject.group, "billing");
    billing().seeded_partitions = 0;
    EXPECT_FALSE(finding(HazardId::seeded_offsets));
}

TEST_F(ConsumerWatchTest, MembersOfGroupsAreNoManualReaders) {
    wait(BlindGroups::kBlindMs);
    fetch({0}, 5);
    EXPECT_FALSE(finding(HazardId::manual_readers));
}

TEST_F(ConsumerWatchTest, AReplayFromBeforeTheGrowthIsCountedUntilItsRecordsAreGone) {
    const ClientIdentity audit{"audit", "/10.0.0.3"};
    fetch(audit, {5}, {1}, 50);
    EXPECT_FALSE(finding(HazardId::replay_inversion)) << "it begins at the cut";
    fetch(audit, {5}, {0}, 30);
    fetch(audit, {5}, {0}, 60);
    ASSERT_TRUE(finding(HazardId::replay_inversion));
    EXPECT_EQ(finding(HazardId::replay_inversion)->count, 70);
    EXPECT_EQ(finding(HazardId::replay_inversion)->subject.client_id, "audit");
    starts_[0] = Offset{90};
    EXPECT_EQ(finding(HazardId::replay_inversion)->count, 10);
    starts_[0] = Offset{100};
    EXPECT_FALSE(finding(HazardId::replay_inversion));
}

TEST_F(ConsumerWatchTest, WhatWasReplayedOfOneGrowthIsToldAfterTheNext) {
    const ClientIdentity audit{"audit", "/10.0.0.3"};
    fetch(audit, {5}, {0}, 30);
    ASSERT_EQ(finding(HazardId::replay_inversion)->count, 70);
    ends_ = {Offset{200}, Offset{60}, Offset{10}, Offset{0}};
    grow(8);
    EXPECT_EQ(finding(HazardId::replay_inversion)->count, 70) << "of the second it has read nothing yet";
    fetch(audit, {5}, {0}, 190);
    EXPECT_EQ(finding(HazardId::replay_inversion)->count, 80);
    fetch(audit, {5}, {0}, 0);
    EXPECT_EQ(finding(HazardId::replay_inversion)->count, 200) << "each record counts once";
}

TEST_F(ConsumerWatchTest, AReplayEndsWithItsReader) {
    fetch({"audit", "/10.0.0.3"}, {3}, {0}, 0);
    ASSERT_TRUE(finding(HazardId::replay_inversion));
    wait(kReaderSilentMs + 1);
    EXPECT_FALSE(finding(HazardId::replay_inversion));
}

TEST_F(ConsumerWatchTest, MembersOfGroupsAreToldOfTheirBacklogInstead) {
    fetch({0}, 0);
    EXPECT_FALSE(finding(HazardId::replay_inversion));
}

TEST_F(ConsumerWatchTest, WhatAStaleProducerLeftIsToldUntilEveryGroupIsBeyondIt) {
    stale_ = {{.client = {"shop", "/10.0.0.9"},
               .old_count = 2,
               .new_count = 4,
               .records = 190,
               .last_after_ms = 12'345,
               .last = {{kOld, Offset{150}}},
               .is_at_it = true}};
    billing().committed[0] = Offset{120};
    EXPECT_FALSE(finding(HazardId::stale_producer)) << "of a producer that goes on its own watch tells";
    stale_[0].is_at_it = false;
    const auto left = finding(HazardId::stale_producer);
    ASSERT_TRUE(left);
    EXPECT_EQ(left->count, 190);
    EXPECT_EQ(left->subject.client_id, "shop");
    EXPECT_NE(left->condition.find("billing"), std::string::npos);
    billing().committed[0] = Offset{151};
    EXPECT_FALSE(finding(HazardId::stale_producer));
    billing().committed[0] = Offset{150};
    EXPECT_TRUE(finding(HazardId::stale_producer));
    starts_[0] = Offset{151};
    EXPECT_FALSE(finding(HazardId::stale_producer)) << "the records are gone";
}

TEST_F(ConsumerWatchTest, AReaderThatFoundTheFirstGrowthIsNamedForTheSecond) {
    const ClientIdentity flink{"flink", "/10.0.0.2"};
    fetch(flink, {3}, {0}, 5);
    fetch(flink, {3}, {3}, 0);
    wait(BlindGroups::kBlindMs);
    EXPECT_FALSE(finding(HazardId::manual_readers));
    grow(8);
    fetch(flink, {3}, {3}, 0);
    EXPECT_FALSE(finding(HazardId::manual_readers)) << "it had no time";
    wait(BlindGroups::kBlindMs);
    const auto manual = finding(HazardId::manual_readers);
    ASSERT_TRUE(manual);
    EXPECT_EQ(manual->count, 2);
    EXPECT_NE(manual->condition.find("none of the 4 new ones"), std::string::npos);
}

TEST_F(ConsumerWatchTest, AReaderThatIsBlindStaysSoWhenTheTopicGrowsAgain) {
    const ClientIdentity flink{"flink", "/10.0.0.2"};
    fetch(flink, {3}, {0}, 5);
    wait(BlindGroups::kBlindMs);
    ASSERT_TRUE(finding(HazardId::manual_readers));
    grow(8);
    EXPECT_TRUE(finding(HazardId::manual_readers)) << "it has not found the first growth yet";
}

TEST_F(ConsumerWatchTest, AReaderThatSharesNameAndHostWithAMemberIsToldApartByItsProcess) {
    assign_everything();
    connections_.is_of(kCoordinator, 100);
    connections_.is_of(kFetches, 100);
    connections_.is_of({7}, 200);
    fetch({0}, 100);
    fetch(client_, {7}, {0}, 30);
    const auto replay = finding(HazardId::replay_inversion);
    ASSERT_TRUE(replay);
    EXPECT_EQ(replay->count, 70);
    EXPECT_NE(replay->condition.find("python3 (pid 200)"), std::string::npos);
}

TEST_F(ConsumerWatchTest, OfAReaderThatMayBeAMemberNothingIsSaid) {
    assign_everything();
    fetch({0}, 100);
    fetch(client_, {7}, {0}, 30);
    EXPECT_FALSE(finding(HazardId::replay_inversion));
    billing().members[0].assigned = {{1}, {2}, {3}};
    for (int round = 0; round < 3; ++round) {
        wait(kHandoverMs);
        fetch(client_, {7}, {0}, 100);
        (void)findings();
    }
    EXPECT_TRUE(finding(HazardId::replay_inversion)) << "no member holds what it reads";
}

TEST_F(ConsumerWatchTest, WhoCommitsForAGroupWithoutBeingAMemberIsNoOutsider) {
    groups_.clear();
    fetch({0}, 5);
    fetch(kNew, 5);
    commit("by-hand", {{kNew, Offset{6}}});
    EXPECT_FALSE(finding(HazardId::external_offsets)) << "its offsets are known here";
}

TEST_F(ConsumerWatchTest, OfManyWhoShareOneNameNobodyIsAccused) {
    groups_.clear();
    for (int number = 0; number < 1000; ++number) {
        add_group("g" + std::to_string(number), {static_cast<std::uint64_t>(10'000 + number)});
        fetch(client_, {static_cast<std::uint64_t>(20'000 + number)}, {number % 4}, 0);
    }
    const std::vector<Finding> all = findings();
    EXPECT_TRUE(std::ranges::none_of(all, [](const Finding& finding) { return finding.id == HazardId::replay_inversion; }));
}

TEST_F(ConsumerWatchTest, AReaderThatStoppedIsForgotten) {
    wait(BlindGroups::kBlindMs);
    fetch({"flink", "/10.0.0.2"}, {3}, {0}, 5);
    wait(kReaderSilentMs + 1);
    EXPECT_FALSE(finding(HazardId::manual_readers));
}

TEST_F(ConsumerWatchTest, TheBacklogOfTheFirstGrowthIsToldWhileTheSecondIsNotReadYet) {
    billing().committed[0] = Offset{90};
    billing().committed[1] = Offset{50};
    billing().committed.resize(8, kNoOffset);
    assign_everything();
    ends_ = {Offset{300}, Offset{50}, Offset{40}, Offset{0}};
    grow(8);
    ASSERT_TRUE(finding(HazardId::backlog_inversion));
    EXPECT_EQ(finding(HazardId::backlog_inversion)->count, 10);
    billing().members[0].assigned.push_back({4});
    billing().committed[2] = Offset{15};
    EXPECT_EQ(finding(HazardId::backlog_inversion)->count, 210 + 25) << "all of before the second growth";
}

TEST_F(ConsumerWatchTest, ABacklogCountsWhileNewPartitionsAreRead) {
    billing().committed[0] = Offset{90};
    billing().committed[1] = Offset{50};
    EXPECT_FALSE(finding(HazardId::backlog_inversion)) << "nothing new is read yet";
    assign_everything();
    const auto backlog = finding(HazardId::backlog_inversion);
    ASSERT_TRUE(backlog);
    EXPECT_EQ(backlog->count, 10);
    billing().committed[0] = Offset{100};
    EXPECT_FALSE(finding(HazardId::backlog_inversion));
}

TEST_F(ConsumerWatchTest, APositionBehindWhatWasAbortedIsNoReadOfANewPartition) {
    billing().committed = {Offset{20}, kNoOffset, Offset{0}, kNoOffset};
    billing().positions = {Offset{20}, kNoOffset, Offset{2}, kNoOffset};
    EXPECT_FALSE(finding(HazardId::backlog_inversion)) << "it was given offset 0, and has committed nothing there";
    billing().committed[2] = Offset{1};
    ASSERT_TRUE(finding(HazardId::backlog_inversion));
    EXPECT_EQ(finding(HazardId::backlog_inversion)->count, 80);
    billing().positions[0] = Offset{98};
    EXPECT_EQ(finding(HazardId::backlog_inversion)->count, 2);
    billing().positions[0] = Offset{100};
    EXPECT_FALSE(finding(HazardId::backlog_inversion)) << "what is left is nothing for anybody";
}

TEST_F(ConsumerWatchTest, ACommitBeyondANewRecordBeforeAnOlderOneIsAnInversion) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{1}}});
    const auto inversion = finding(HazardId::inversion_delivered);
    ASSERT_TRUE(inversion);
    EXPECT_EQ(inversion->count, 1);
    EXPECT_EQ(inversion->examples, (std::vector<ExampleKey>{{"a", kOld, kNew}}));
}

TEST_F(ConsumerWatchTest, AnInversionIsToldUntilTheOlderRecordsAreGone) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{1}}});
    starts_[0] = Offset{95};
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
    starts_[0] = Offset{96};
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

// Producers are seen writing records of which nobody knows yet whether they will stand.
TEST_F(ConsumerWatchTest, WhatIsAbortedIsNoInversion) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    add_key("b", kOld, 0, 96);
    add_key("b", kNew, 1, 1);
    add_key("c", kOld, 0, 97);
    add_key("c", kNew, 1, 2);
    fates_.told[{kOld, Offset{95}}] = RecordFate::aborted;
    fates_.told[{kNew, Offset{1}}] = RecordFate::undecided;
    fates_.told[{kOld, Offset{97}}] = RecordFate::undecided;
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{3}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "aborted, or not decided yet";
    fates_.told[{kNew, Offset{1}}] = RecordFate::stands;
    fates_.told[{kOld, Offset{97}}] = RecordFate::aborted;
    ASSERT_TRUE(finding(HazardId::inversion_delivered));
    EXPECT_EQ(finding(HazardId::inversion_delivered)->examples, (std::vector<ExampleKey>{{"b", kOld, kNew}}));
}

TEST_F(ConsumerWatchTest, WhatIsWrittenAgainAfterAnAbortIsReadTooEarlyAsWell) {
    add_key_in_transaction("a", kOld, 0, 95);
    constexpr auto kAgain = static_cast<std::int64_t>(KeyStep::kAgainMax);
    for (std::int64_t again = 0; again <= kAgain; ++again) {
        add_key_in_transaction("a", kNew, 1, 2 * again);
        if (again < kAgain) fates_.told[{kNew, Offset{2 * again}}] = RecordFate::aborted;
    }
    const Offset stands{2 * kAgain};
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, stands}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "behind it are aborted ones alone";
    commit("billing", {{kNew, stands + 1}});
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, WhatStandsInFrontOfAnAbortedRecordIsReadTooLateAsWell) {
    add_key_in_transaction("a", kOld, 0, 95);
    add_key_in_transaction("a", kOld, 0, 97);
    add_key_in_transaction("a", kNew, 1, 0);
    fates_.told[{kOld, Offset{97}}] = RecordFate::aborted;
    commit("billing", {{kOld, Offset{96}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "the one that stands was read";
    commit("billing", {{kOld, Offset{95}}, {kNew, Offset{0}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
}

// The application did it all again: it wrote by the old count, aborted, learned of the growth, aborted, and then it worked.
TEST_F(ConsumerWatchTest, ATransactionThatIsRepeatedHidesNoInversion) {
    add_key_in_transaction("a", kOld, 0, 95);
    add_key_in_transaction("a", kOld, 1, 120);
    add_key_in_transaction("a", kNew, 1, 0);
    add_key_in_transaction("a", kNew, 1, 2);
    fates_.told[{kOld, Offset{120}}] = RecordFate::aborted;
    fates_.told[{kNew, Offset{0}}] = RecordFate::aborted;
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{3}}});
    const auto inversion = finding(HazardId::inversion_delivered);
    ASSERT_TRUE(inversion);
    EXPECT_NE(inversion->condition.find("orders-2 beyond offset 2 and orders-0 not beyond 95"), std::string::npos)
        << inversion->condition;
}

TEST_F(ConsumerWatchTest, OfSeveralUndecidedInversionsOfAKeyTheOneThatStandsIsTold) {
    add_key_in_transaction("a", kOld, 0, 95);
    add_key_in_transaction("a", kNew, 1, 0);
    add_key_in_transaction("a", kNew, 1, 2);
    fates_.told[{kNew, Offset{0}}] = RecordFate::undecided;
    fates_.told[{kNew, Offset{2}}] = RecordFate::undecided;
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{3}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
    fates_.told[{kNew, Offset{0}}] = RecordFate::aborted;
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
    fates_.told[{kNew, Offset{2}}] = RecordFate::stands;
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, UndecidedInversionsOfAKeyAreBounded) {
    static_assert(Inversions::kUndecidedMax == 8);
    for (const std::int64_t round : {0, 1}) {
        add_key_in_transaction("a", kOld, static_cast<std::int32_t>(round), 95 + 10 * round);
        add_key_in_transaction("a", kOld, static_cast<std::int32_t>(round), 97 + 10 * round);
        for (const std::int64_t again : {0, 2, 4}) {
            add_key_in_transaction("a", kNew, 1, 10 * round + again);
            fates_.told[{kNew, Offset{10 * round + again}}] = RecordFate::undecided;
        }
    }
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{15}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
    // Three records of the first step and one of the second, each with two older ones.
    for (const std::int64_t later : {0, 2, 4, 10, 12, 14}) {
        fates_.told[{kNew, Offset{later}}] = later <= 10 ? RecordFate::aborted : RecordFate::stands;
    }
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "the last two found no room";
}

TEST_F(ConsumerWatchTest, WhatIsAbortedCountsNotAmongWhatCouldNotBeCounted) {
    constexpr auto kKeys = static_cast<std::int64_t>(Inversions::kInvertedKeysMax);
    keys_ = KeyIndex{Inversions::kInvertedKeysMax * 2};
    for (std::int64_t key = 0; key < kKeys + 3; ++key) {
        add_key("key-" + std::to_string(key), kOld, 0, 10);
        add_key("key-" + std::to_string(key), kNew, 1, key);
    }
    fates_.told[{kNew, Offset{kKeys}}] = RecordFate::aborted;
    fates_.told[{kNew, Offset{kKeys + 1}}] = RecordFate::undecided;
    commit("billing", {{kOld, Offset{10}}});
    commit("billing", {{kNew, Offset{kKeys + 2}}});
    auto inversion = finding(HazardId::inversion_delivered);
    ASSERT_TRUE(inversion);
    EXPECT_EQ(inversion->count, kKeys);
    EXPECT_EQ(inversion->condition.find("more than could be counted"), std::string::npos);
    commit("billing", {{kNew, Offset{kKeys + 3}}});
    inversion = finding(HazardId::inversion_delivered);
    EXPECT_NE(inversion->condition.find("more than could be counted"), std::string::npos);
}

TEST_F(ConsumerWatchTest, InversionsWhoseRecordsAreGoneMakeRoom) {
    const auto invert = [&](const std::string& name, std::size_t keys, std::int64_t older) {
        for (std::size_t key = 0; key < keys; ++key) {
            add_key(name + std::to_string(key), kOld, 0, older);
            add_key(name + std::to_string(key), kNew, 1, older);
        }
        commit("billing", {{kOld, Offset{older}}});
        commit("billing", {{kNew, Offset{older + 1}}});
    };
    keys_ = KeyIndex{Inversions::kInvertedKeysMax * 2};
    invert("early", Inversions::kInvertedKeysMax, 10);
    ASSERT_EQ(finding(HazardId::inversion_delivered)->count, Inversions::kInvertedKeysMax);
    starts_[0] = Offset{11};
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
    invert("late", 3, 90);
    ASSERT_TRUE(finding(HazardId::inversion_delivered));
    EXPECT_EQ(finding(HazardId::inversion_delivered)->count, 3);
}

TEST_F(ConsumerWatchTest, WhatAStaleProducerAddedHidesNoInversion) {
    add_key("a", kOld, 0, 95);
    add_key("a", kOld, 1, 120);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{1}}});
    ASSERT_TRUE(finding(HazardId::inversion_delivered));
    EXPECT_EQ(finding(HazardId::inversion_delivered)->count, 1);
}

TEST_F(ConsumerWatchTest, WhatAStaleProducerWroteAfterTheGrowthIsReadTooLateAsWell) {
    add_key("a", kOld, 0, 95);
    add_key("a", kOld, 1, 120);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{96}}});
    commit("billing", {{kNew, Offset{1}}});
    ASSERT_TRUE(finding(HazardId::inversion_delivered)) << "120 came before the new one, and is still to be read";
}

TEST_F(ConsumerWatchTest, WhatAStaleProducerWroteLaterIsNoInversion) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    add_key("a", kOld, 1, 120);
    commit("billing", {{kOld, Offset{96}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "120 came after the new one";
}

TEST_F(ConsumerWatchTest, BatchesThatOvertookEachOtherOnTheirWayAreNoInversion) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    add_key("a", kOld, 1, 120);
    commit("billing", {{kNew, Offset{0}}});
    commit("billing", {{kOld, Offset{121}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "a producer that switches may have sent 120 first";
}

TEST_F(ConsumerWatchTest, EachStepBackAndForthIsJudged) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    add_key("a", kOld, 1, 120);
    add_key("a", kNew, 1, 1);
    commit("billing", {{kOld, Offset{96}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
    commit("billing", {{kNew, Offset{2}}});
    EXPECT_TRUE(finding(HazardId::inversion_delivered)) << "beyond 1, which came after 120";
}

TEST_F(ConsumerWatchTest, AKeyThatAStaleProducerBroughtIsJudgedWhereItsPlaceIsKnown) {
    // Both records came after the growth: only the partitioner tells that it is what parted them.
    std::string key = "a";
    const auto home = [&](std::int32_t count) {
        return partitioners::partition_of(partitioners::Family::murmur2_pos, as_bytes(key), count);
    };
    while (home(2) != kOld || home(4) != kNew) key += "a";
    add_key(key, kOld, 1, 120);
    add_key(key, kNew, 1, 0);
    commit("billing", {{kOld, Offset{100}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "a producer may just scatter its keys";
    families_ = partitioners::FamilySet::of(partitioners::Family::murmur2_pos);
    commit("billing", {{kNew, Offset{0}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, AnOlderPlaceThatWasUsedAfterASecondGrowthIsNotTakenForOlder) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    add_key("a", kOld, 1, 120);
    grow(8);
    add_key("a", kNew, 2, 1);
    commit("billing", {{kOld, Offset{96}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "0 came before 120";
}

TEST_F(ConsumerWatchTest, AnInversionEndsWithItsGroup) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{1}}});
    ASSERT_TRUE(finding(HazardId::inversion_delivered));
    EXPECT_TRUE(watch_.groups_told().contains("billing"));
    watch_.forget_group("billing");
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, WhatAGroupCommittedBeforeItWasDeletedIsNotThatOfTheNextOfItsName) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{95}}});
    watch_.forget_group("billing");
    const Inversions::Positions nothing;
    commit("billing", {{kNew, Offset{1}}}, &nothing);
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, CommitsThatWaitAreBoundedAndWhatWasLeftOutIsSaid) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{1}}});
    for (std::size_t number = 0; number < Inversions::kAdvancesMax; ++number) {
        commit("other", {{kOld, Offset{static_cast<std::int64_t>(number)}}});
    }
    const auto inversion = finding(HazardId::inversion_delivered);
    ASSERT_TRUE(inversion);
    EXPECT_NE(inversion->condition.find("more than could be counted"), std::string::npos);
}

// The records are read and committed before their keys were looked at.
TEST_F(ConsumerWatchTest, ACommitIsJudgedWhenTheKeysOfItsRecordsWereLookedAt) {
    keys_seen_ = 1;
    commit("billing", {{kOld, Offset{95}}}, nullptr, 1);
    commit("billing", {{kNew, Offset{1}}}, nullptr, 2);
    commit("billing", {{kOld, Offset{96}}}, nullptr, 2);
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
    EXPECT_TRUE(watch_.is_undecided());
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    keys_seen_ = 2;
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
    EXPECT_FALSE(watch_.is_undecided());
}

TEST_F(ConsumerWatchTest, InOrderCommitsAreNoInversion) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{96}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, AnInversionIsJudgedByThePositionsOfItsMoment) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{10}}});
    commit("billing", {{kNew, Offset{1}}});
    commit("billing", {{kOld, Offset{100}}});
    EXPECT_TRUE(finding(HazardId::inversion_delivered)) << "the old record was read later, which is the inversion";
}

TEST_F(ConsumerWatchTest, APositionFromBeforeTheGrowthCountsToo) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    billing().committed[0] = Offset{20};
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, APositionFromBeforeTheGrowthCountsAlsoWhenItIsLeftBeforeTheNextLook) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    const Inversions::Positions before = {{kOld, Offset{20}}};
    commit("billing", {{kNew, Offset{1}}}, &before);
    billing().committed[0] = Offset{100};
    EXPECT_TRUE(finding(HazardId::inversion_delivered)) << "the old record was read later";
}

TEST_F(ConsumerWatchTest, APositionThatCameLaterProvesNothingOfTheTimeBefore) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    const Inversions::Positions nothing;
    commit("billing", {{kNew, Offset{1}}}, &nothing);
    billing().committed[0] = Offset{20};
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "it had no position in the old partition then";
}

// As when more groups commit than the broker remembers to have asked.
TEST_F(ConsumerWatchTest, PositionsThatAreToldAgainChangeNothing) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    const Inversions::Positions before = {{kOld, Offset{20}}};
    const Inversions::Positions again = {{kOld, Offset{100}}, {kNew, Offset{1}}};
    commit("billing", {{kNew, Offset{1}}}, &before);
    commit("billing", {{kOld, Offset{100}}});
    commit("billing", {{kNew, Offset{2}}}, &again);
    const auto inversion = finding(HazardId::inversion_delivered);
    ASSERT_TRUE(inversion);
    EXPECT_EQ(inversion->count, 1);
}

TEST_F(ConsumerWatchTest, WhatOneRequestCommitsIsCommittedAtOnce) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kNew, Offset{1}}, {kOld, Offset{96}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, KeysThatStayAreNeverInverted) {
    add_key("a", kOld, 0, 95);
    add_key("a", kOld, 1, 101);
    commit("billing", {{kOld, Offset{50}}});
    commit("billing", {{kNew, Offset{10}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

}  // namespace
}  // namespace partita::expansion
