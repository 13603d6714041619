#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "broker/insight/readers/outside_readers.h"
#include "tests/unit/insight/consumer_watch_fixture.h"

namespace partita::insight {
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
    wait(BlindGroups::kBlindMs + 1);
    fetch(kNew, 7);
    EXPECT_TRUE(finding(HazardId::external_offsets)) << "it goes on by itself";
}

// A broker under load looks late.
TEST_F(ConsumerWatchTest, AMemberThatLostAPartitionBetweenDistantLooksIsNoReaderOutsideOfGroups) {
    assign_everything();
    fetch({0}, 5);
    fetch(kNew, 5);
    EXPECT_FALSE(finding(HazardId::external_offsets));
    wait(kHandoverMs + 2000);
    fetch(kNew, 6);
    billing().members[0].assigned = {{0}};
    wait(100);
    EXPECT_FALSE(finding(HazardId::external_offsets)) << "nobody knows when it lost the partition";
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

TEST_F(ConsumerWatchTest, ReadersThatOnlyTheProcessTellsApartAreToldTogether) {
    const ClientIdentity audit{"rdkafka", "/10.0.0.3"};
    connections_.is_of({5}, 100);
    connections_.is_of({6}, 200);
    fetch(audit, {5}, {0}, 99);
    fetch(audit, {6}, {0}, 30);
    const auto told = finding(HazardId::replay_inversion);
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, 71);
    EXPECT_NE(told->condition.find("; 1 other reader of this name and address likewise, 71 records in all"), std::string::npos)
        << told->condition;
    EXPECT_EQ(std::ranges::count(findings(), HazardId::replay_inversion, &Finding::id), 1);
    wait(BlindGroups::kBlindMs);
    fetch(audit, {5}, {1}, 99);
    fetch(audit, {6}, {1}, 99);
    const auto half = finding(HazardId::manual_readers);
    ASSERT_TRUE(half);
    EXPECT_EQ(half->count, 2) << "both read the same two partitions";
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

TEST_F(ConsumerWatchTest, WhatAStaleProducerLeftIsHarmUntilItIsGoneAndNamesTheGroupsThatAreNotBeyondIt) {
    stale_ = {{.client = {"shop", "/10.0.0.9"},
               .old_count = 2,
               .new_count = 4,
               .records = 190,
               .last_after_ms = 12'345,
               .last = {{kOld, Offset{150}}},
               .is_writing = true}};
    billing().committed[0] = Offset{120};
    EXPECT_FALSE(finding(HazardId::stale_producer)) << "of a producer that goes on its own watch tells";
    stale_[0].is_writing = false;
    const auto left = finding(HazardId::stale_producer);
    ASSERT_TRUE(left);
    EXPECT_EQ(left->count, 190);
    EXPECT_EQ(left->subject.client_id, "shop");
    EXPECT_EQ(left->kind, HazardKind::harm);
    EXPECT_EQ(left->evidence, (std::vector<RecordPlace>{{kOld, Offset{150}}}));
    EXPECT_TRUE(left->condition.ends_with("190 records prove it, and 1 group has not read all of them yet (billing)"))
        << left->condition;
    billing().committed[0] = Offset{151};
    const auto read = finding(HazardId::stale_producer);
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->condition.ends_with("190 records prove it")) << read->condition;
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

TEST_F(ConsumerWatchTest, ABacklogIsAllThatIsUnreadFromBeforeTheLastGrowth) {
    billing().committed[0] = Offset{90};
    billing().committed[1] = Offset{50};
    billing().committed.resize(8, kNoOffset);
    assign_everything();
    ends_ = {Offset{300}, Offset{50}, Offset{40}, Offset{0}};
    grow(8);
    ASSERT_TRUE(finding(HazardId::backlog_inversion));
    EXPECT_EQ(finding(HazardId::backlog_inversion)->count, 210 + 40) << "without a commit from the start";
    billing().committed[2] = Offset{15};
    EXPECT_EQ(finding(HazardId::backlog_inversion)->count, 210 + 25);
}

TEST_F(ConsumerWatchTest, ABacklogCountsFromTheGrowthUntilItIsRead) {
    billing().committed[0] = Offset{90};
    billing().committed[1] = Offset{50};
    auto backlog = finding(HazardId::backlog_inversion);
    ASSERT_TRUE(backlog) << "nothing new is read yet";
    EXPECT_EQ(backlog->count, 10);
    assign_everything();
    backlog = finding(HazardId::backlog_inversion);
    ASSERT_TRUE(backlog);
    EXPECT_EQ(backlog->count, 10);
    billing().committed[0] = Offset{100};
    EXPECT_FALSE(finding(HazardId::backlog_inversion));
}

TEST_F(ConsumerWatchTest, APositionBehindWhatWasAbortedIsNoReadOfANewPartition) {
    billing().committed = {Offset{20}, Offset{50}, Offset{0}, kNoOffset};
    billing().positions = {Offset{20}, Offset{50}, Offset{2}, kNoOffset};
    const auto reads_new = [&] { return finding(HazardId::backlog_inversion)->condition.contains("already reads"); };
    ASSERT_TRUE(finding(HazardId::backlog_inversion));
    EXPECT_FALSE(reads_new()) << "it was given offset 0, and has committed nothing there";
    billing().committed[2] = Offset{1};
    EXPECT_TRUE(reads_new());
    EXPECT_EQ(finding(HazardId::backlog_inversion)->count, 80);
    billing().positions[0] = Offset{98};
    EXPECT_EQ(finding(HazardId::backlog_inversion)->count, 2);
    billing().positions[0] = Offset{100};
    EXPECT_FALSE(finding(HazardId::backlog_inversion)) << "what is left is nothing for anybody";
}

TEST_F(ConsumerWatchTest, ABacklogIsTheRecordsThatAreLeftAndNotTheOffsets) {
    assign_everything();
    billing().committed = {Offset{20}, Offset{30}, kNoOffset, kNoOffset};
    counts_.told[{{0}, Offset{20}}] = {.records = 7};
    counts_.told[{{1}, Offset{30}}] = {.records = 0};
    auto backlog = finding(HazardId::backlog_inversion);
    ASSERT_TRUE(backlog);
    EXPECT_EQ(backlog->count, 7);
    EXPECT_EQ(backlog->numbers, (std::vector<FindingNumber>{{"backlog_records", 7}, {"partitions", 1}, {"is_exact", 1}}));
    EXPECT_EQ(
        backlog->condition,
        "group billing has not read 7 records from before the growth from 2 to 4 in 1 partition; how many of them have keys "
        "that moved is unknown, and the group already reads new partitions");
    counts_.told[{{1}, Offset{30}}] = {.records = 20, .is_exact = false};
    backlog = finding(HazardId::backlog_inversion);
    EXPECT_EQ(backlog->count, 27);
    EXPECT_EQ(
        backlog->condition,
        "group billing has not read up to 27 records from before the growth from 2 to 4 in 2 partitions; how many of them have "
        "keys that moved is unknown, and the group already reads new partitions");
    EXPECT_EQ(backlog->numbers.back(), (FindingNumber{"is_exact", 0}));
    counts_.told = {{{{0}, Offset{20}}, {.records = 0}}, {{{1}, Offset{30}}, {.records = 0}}};
    EXPECT_FALSE(finding(HazardId::backlog_inversion)) << "markers alone are no backlog";
}

TEST_F(ConsumerWatchTest, NobodyIsBlindToANewPartitionThatHoldsNoRecords) {
    ends_[2] = Offset{9};
    counts_.told[{{2}, Offset{0}}] = {.records = 0};
    wait(BlindGroups::kBlindMs);
    EXPECT_FALSE(finding(HazardId::group_blind));
    counts_.told[{{2}, Offset{0}}] = {.records = 4, .is_exact = false};
    const auto blind = finding(HazardId::group_blind);
    ASSERT_TRUE(blind);
    EXPECT_EQ(blind->count, 4);
    EXPECT_NE(blind->condition.find("where up to 4 records wait"), std::string::npos) << blind->condition;
}

}  // namespace
}  // namespace partita::insight
