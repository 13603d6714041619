#include "broker/insight/readers/auto_resets.h"

#include "tests/unit/insight/consumer_watch_fixture.h"

namespace partita::insight {
namespace {

using AutoResetsTest = ConsumerWatchTest;

TEST_F(AutoResetsTest, CountsExactlyTheRecordsThatLatestSkipped) {
    start_at_latest(kNew, 7);
    const auto lost = skipped();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->count, 7);
    EXPECT_EQ(lost->subject.group, "billing");
    EXPECT_EQ(lost->severity, Severity::block);
}

// The client resolves localhost anew for each connection, and gets either protocol's address.
TEST_F(AutoResetsTest, AClientOfThisMachineIsOneByEitherProtocol) {
    const ClientIdentity by_ipv6{client_.client_id, "/0:0:0:0:0:0:0:1"};
    billing().members[0].client_host = by_ipv6.address;
    client_.address = "/127.0.0.1";
    watch_.on_offset_fetch("billing", kCoordinator, true, by_ipv6, kNew, kNoOffset, now_);
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    fetch(kNew, 7);
    const auto lost = skipped();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->count, 7);
    EXPECT_EQ(lost->subject.group, "billing");
}

TEST_F(AutoResetsTest, OffsetsWithoutARecordWereSkippedByNobody) {
    start_at_latest(kNew, 7);
    counts_.told[{kNew, Offset{0}}] = {.records = 0};
    EXPECT_FALSE(skipped()) << "markers and what was aborted";
    counts_.told[{kNew, Offset{0}}] = {.records = 5};
    auto lost = finding(HazardId::latest_loses_first_records);
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->count, 5);
    EXPECT_TRUE(lost->condition.starts_with("group billing never read the first 5 records of 1 new partition: "))
        << lost->condition;
    counts_.told[{kNew, Offset{0}}] = {.records = 6, .is_exact = false};
    lost = finding(HazardId::latest_loses_first_records);
    EXPECT_EQ(lost->numbers, (std::vector<FindingNumber>{{"skipped_records", 6}, {"partitions", 1}, {"is_exact", 0}}));
    EXPECT_TRUE(lost->condition.starts_with("group billing never read the first records, up to 6, of 1 new partition: "))
        << lost->condition;
}

TEST_F(AutoResetsTest, AddsUpWhatAGroupSkippedInSeveralPartitions) {
    start_at_latest({2}, 7);
    start_at_latest({3}, 5);
    const auto lost = skipped();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->count, 12);
    EXPECT_EQ(lost->numbers[1], (FindingNumber{"partitions", 2}));
    EXPECT_EQ(lost->kind, HazardKind::harm);
    EXPECT_EQ(lost->evidence, (std::vector<RecordPlace>{{{2}, Offset{6}}, {{3}, Offset{4}}}));
}

TEST_F(AutoResetsTest, WhatWasSkippedAfterOneGrowthIsToldAfterTheNext) {
    start_at_latest({2}, 7);
    grow(8);
    ASSERT_TRUE(skipped());
    EXPECT_EQ(skipped()->count, 7);
}

// 6 to 8 to 12 before the group looked at its metadata: all six are new to it.
TEST_F(AutoResetsTest, AGroupThatMissedTwoGrowthsSkipsInThePartitionsOfBoth) {
    (void)findings();
    grow(6);
    (void)findings();
    start_at_latest({2}, 7);
    start_at_latest({3}, 5);
    start_at_latest({4}, 11);
    const auto lost = skipped();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->count, 23);
    EXPECT_EQ(lost->numbers[1], (FindingNumber{"partitions", 3}));
}

TEST_F(AutoResetsTest, TheSecondGrowthDoesNotForgetWhoAskedAfterTheFirst) {
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    grow(8);
    fetch(kNew, 7);
    EXPECT_TRUE(skipped());
}

TEST_F(AutoResetsTest, AGroupThatCameAfterTheGrowthBeginsWhereItLikes) {
    (void)findings();
    add_group("console", {11});
    client_ = {"console-consumer", "/10.0.0.1"};
    groups_[1].members[0].client_id = client_.client_id;
    ask("console", {11}, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    fetch(client_, {12}, kNew, 7);
    EXPECT_FALSE(skipped());
}

TEST_F(AutoResetsTest, AnEmptyNewPartitionLosesNothing) {
    start_at_latest(kNew, 0);
    EXPECT_FALSE(skipped());
}

TEST_F(AutoResetsTest, ALagMonitorThatDoesNotFetchProvesNoLoss) {
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    EXPECT_FALSE(skipped());
}

TEST_F(AutoResetsTest, ALagMonitorBesideTheGroupHidesNoLoss) {
    const ClientIdentity monitor{"burrow", "/10.0.0.8"};
    ask("billing", kCoordinator, kNew);
    watch_.on_offset_fetch("billing", {30}, false, monitor, kNew, kNoOffset, now_);
    watch_.on_list_offsets(monitor, kNew, -1, Offset{6});
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    fetch(kNew, 7);
    EXPECT_EQ(skipped()->count, 7);
}

TEST_F(AutoResetsTest, AReaderFromTheBeginningLosesNothing) {
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, -2, Offset{0});
    fetch(kNew, 0);
    EXPECT_FALSE(skipped());
}

TEST_F(AutoResetsTest, AFetchOfAnOldPartitionIsNoLoss) {
    start_at_latest(kOld, 100);
    EXPECT_FALSE(skipped());
}

// auto.offset.reset=by_duration: ListOffsets for a time says where its records begin, and the fetch begins there.
TEST_F(AutoResetsTest, WhoBeginsAtATimeSkipsWhatIsOlder) {
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, 999'000, Offset{5});
    fetch(kNew, 5);
    const auto lost = skipped();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->count, 5);
    EXPECT_EQ(lost->severity, Severity::warn) << "it asked for nothing older";
    EXPECT_NE(lost->condition.find("by_duration"), std::string::npos);
}

TEST_F(AutoResetsTest, WhoIsToldOfNoRecordSoYoungGoesToTheEnd) {
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, 999'000, kNoOffset);
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    fetch(kNew, 7);
    EXPECT_EQ(skipped()->count, 7);
}

TEST_F(AutoResetsTest, AFetchFromElsewhereProvesNothing) {
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    fetch(kNew, 3);
    EXPECT_FALSE(skipped()) << "its offsets are kept elsewhere, or somebody chose one";
}

TEST_F(AutoResetsTest, TheLossEndsWhenTheGroupGoesBack) {
    start_at_latest(kNew, 7);
    ASSERT_TRUE(skipped());
    commit("billing", {{kNew, Offset{0}}});
    EXPECT_FALSE(skipped());
}

TEST_F(AutoResetsTest, TheLossEndsWithTheGroup) {
    start_at_latest(kNew, 7);
    ASSERT_TRUE(skipped());
    EXPECT_TRUE(watch_.groups_told().contains("billing"));
    watch_.forget_group("billing");
    groups_.clear();
    EXPECT_FALSE(skipped());
}

TEST_F(AutoResetsTest, TheLossOfOnePartitionIsEndedByNobodyElsesReading) {
    start_at_latest(kNew, 7);
    ASSERT_TRUE(skipped());
    fetch({"billing-app", "/10.0.0.2"}, {9}, kNew, 0);
    fetch({3}, 0);
    fetch(kNew, 7);
    EXPECT_TRUE(skipped());
    fetch(kNew, 6);
    EXPECT_FALSE(skipped());
}

// `kcat -C -o beginning` has the same name as every other librdkafka client.
TEST_F(AutoResetsTest, AStrangerOfTheSameNameEndsNoLoss) {
    assign_everything();
    start_at_latest(kNew, 7);
    ASSERT_TRUE(skipped("billing"));
    fetch(client_, {9}, kNew, 0);
    EXPECT_TRUE(skipped("billing")) << "it may be anybody";
    connections_.is_of(kCoordinator, 100);
    connections_.is_of(kFetches, 100);
    connections_.is_of({10}, 200);
    fetch(client_, {10}, kNew, 0);
    EXPECT_TRUE(skipped("billing")) << "it is another program";
    connections_.closed.insert(kFetches);
    connections_.closed.insert({9});
    connections_.is_of({11}, 100);
    fetch(client_, {11}, kNew, 0);
    EXPECT_FALSE(skipped("billing")) << "the group's own program";
}

TEST_F(AutoResetsTest, OfTwoGroupsOfOneNameTheProcessTellsWhichSkipped) {
    add_group("audit", {11});
    assign_everything();
    connections_.is_of(kCoordinator, 100);
    connections_.is_of(kFetches, 100);
    connections_.is_of({11}, 200);
    connections_.is_of({12}, 200);
    // Both ask at once, and their requests come in mixed order.
    ask("billing", kCoordinator, kNew);
    ask("audit", {11}, kNew);
    watch_.on_list_offsets(client_, kNew, -2, Offset{0});
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    fetch(client_, kFetches, kNew, 0);
    fetch(client_, {12}, kNew, 7);
    const auto lost = skipped("audit");
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->count, 7);
    EXPECT_FALSE(skipped("billing")) << "it has read everything";
}

TEST_F(AutoResetsTest, BothOfTwoGroupsThatSkippedAreTold) {
    add_group("audit", {11});
    assign_everything();
    for (const std::uint64_t id : {1, 2}) {
        connections_.is_of({id}, 100);
    }
    for (const std::uint64_t id : {11, 12}) {
        connections_.is_of({id}, 200);
    }
    ask("billing", kCoordinator, kNew);
    ask("audit", {11}, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    watch_.on_list_offsets(client_, kNew, -1, Offset{9});
    fetch(client_, {12}, kNew, 9);
    fetch(client_, kFetches, kNew, 7);
    ASSERT_TRUE(skipped("billing"));
    EXPECT_EQ(skipped("billing")->count, 7);
    EXPECT_EQ(skipped("audit")->count, 9);
}

TEST_F(AutoResetsTest, OfTwoGroupsThatNothingTellsApartOneOfThemIsTold) {
    add_group("audit", {11});
    assign_everything();
    ask("billing", kCoordinator, kNew);
    ask("audit", {11}, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    fetch(client_, kFetches, kNew, 0);
    fetch(client_, {12}, kNew, 7);
    const auto lost = skipped();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->subject.group, "") << "nobody is accused";
    EXPECT_EQ(lost->count, 7);
    EXPECT_EQ(lost->severity, Severity::warn);
    EXPECT_NE(lost->condition.find("one of group audit, group billing, or"), std::string::npos) << lost->condition;
    // A group that commits behind the place did not begin there.
    commit("billing", {{kNew, Offset{3}}});
    EXPECT_EQ(skipped()->subject.group, "audit");
    EXPECT_EQ(skipped()->severity, Severity::warn) << "it may still be somebody in no group";
    commit("audit", {{kNew, Offset{2}}});
    EXPECT_FALSE(skipped());
}

TEST_F(AutoResetsTest, OfSeveralThatNothingTellsApartTheLargestLossIsNotCalledAll) {
    add_group("audit", {11});
    assign_everything();
    ask("billing", kCoordinator, kNew);
    ask("audit", {11}, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{5});
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    fetch(client_, kFetches, kNew, 5);
    fetch(client_, {12}, kNew, 7);
    const auto lost = skipped();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->count, 7);
    EXPECT_EQ(lost->numbers.back(), (FindingNumber{"is_exact", 0}));
    EXPECT_NE(lost->condition.find("or several of them lost records"), std::string::npos) << lost->condition;
}

TEST_F(AutoResetsTest, NothingIsToldWhileTheKernelIsAsked) {
    start_at_latest(kNew, 7);
    connections_.wanted.insert(kFetches);
    EXPECT_FALSE(skipped());
    connections_.wanted.clear();
    connections_.is_of(kCoordinator, 100);
    connections_.is_of(kFetches, 200);
    EXPECT_FALSE(skipped()) << "it was a stranger";
}

TEST_F(AutoResetsTest, AReaderAtTheEndDoesNotBeginThereWhenAnotherGroupAsks) {
    add_group("audit", {11});
    assign_everything();
    fetch(kNew, 0);
    fetch(kNew, 7);
    ask("audit", {11}, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    fetch(kNew, 7);
    EXPECT_FALSE(skipped());
}

TEST_F(AutoResetsTest, OfASecondBeginningOnlyTheFirstIsCertain) {
    start_at_latest(kNew, 7);
    ASSERT_TRUE(skipped());
    connections_.closed.insert(kFetches);
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{9});
    fetch(client_, {20}, kNew, 9);
    const auto lost = skipped();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->count, 7) << "the two records between it may have read";
}

TEST_F(AutoResetsTest, AGroupThatBeganAtTheStartHasSkippedNothingWhenItBeginsAgain) {
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, -2, Offset{0});
    fetch(kNew, 0);
    (void)skipped();
    connections_.closed.insert(kFetches);
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    fetch(client_, {3}, kNew, 7);
    EXPECT_FALSE(skipped()) << "nobody knows how much of the seven it read, and did not commit";
}

// The watch learns of the member that left soon last, though it came first.
TEST_F(AutoResetsTest, AGroupWhoseMemberBeganAtTheStartAndLeftSoonHasSkippedNothing) {
    const ClientIdentity other{"billing-app-2", "/10.0.0.1"};
    billing().members.push_back({other.client_id, other.address, {{3}}, "billing-2"});
    connections_.coordinators[{"billing", "billing-2"}] = {5};
    (void)findings();
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{0});
    fetch(kNew, 0);
    watch_.on_leave("billing", "billing-1", kCoordinator, kNoTimestamp, client_, std::vector<PartitionIndex>{kOld, kNew}, now_);
    connections_.closed = {kCoordinator, kFetches};
    billing().members.erase(billing().members.begin());
    billing().members[0].assigned = {{0}, {1}, {2}, {3}};
    wait(100);
    watch_.on_offset_fetch("billing", {5}, true, other, kNew, kNoOffset, now_);
    watch_.on_list_offsets(other, kNew, -1, Offset{7});
    fetch(other, {6}, kNew, 7);
    EXPECT_FALSE(skipped()) << "who began there first is still to be found out";
    EXPECT_TRUE(watch_.is_undecided());
    wait(AutoResets::kEvidenceMs);
    EXPECT_FALSE(skipped());
    EXPECT_FALSE(watch_.is_undecided());
}

// The kernel tells of the second process first.
TEST_F(AutoResetsTest, WhoeverBeganLowerIsHeardBeforeAnybodyIsAccused) {
    const ClientIdentity other{"billing-app-2", "/10.0.0.1"};
    billing().members.push_back({other.client_id, other.address, {}, "billing-2"});
    connections_.coordinators[{"billing", "billing-2"}] = {5};
    (void)findings();
    connections_.wanted.insert(kFetches);
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{3});
    fetch(kNew, 3);
    watch_.on_offset_fetch("billing", {5}, true, other, kNew, kNoOffset, now_);
    watch_.on_list_offsets(other, kNew, -1, Offset{7});
    fetch(other, {6}, kNew, 7);
    EXPECT_FALSE(skipped());
    connections_.wanted.clear();
    const auto lost = skipped();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->count, 3);
}

TEST_F(AutoResetsTest, AMemberThatComesAgainIsNotTakenForTheOneThatLeft) {
    (void)findings();
    watch_.on_leave("billing", "billing-1", kCoordinator, kNoTimestamp, client_, std::vector<PartitionIndex>{kOld, kNew}, now_);
    connections_.closed = {kCoordinator, kFetches};
    billing().members[0].member_id = "billing-2";
    connections_.coordinators[{"billing", "billing-2"}] = {5};
    assign_everything();
    wait(1000);
    ask("billing", {5}, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    fetch(client_, {6}, kNew, 7);
    const auto lost = skipped();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->severity, Severity::block) << lost->condition;
    EXPECT_EQ(lost->count, 7);
}

// An application that is started again at once: its member and connection differ, its name is the same.
TEST_F(AutoResetsTest, WhoLeftIsTiedToItsGroupThoughOneOfItsNameCameAfterIt) {
    assign_everything();
    (void)findings();
    start_at_latest(kNew, 7);
    wait(10);
    watch_.on_leave("billing", "billing-1", kCoordinator, kNoTimestamp, client_, std::vector<PartitionIndex>{kOld, kNew}, now_);
    connections_.closed = {kCoordinator, kFetches};
    wait(10);
    billing().members[0].member_id = "billing-2";
    connections_.coordinators[{"billing", "billing-2"}] = {5};
    connections_.open[{5}] = {.id = {5}, .born = now_};
    ask("billing", {5}, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{9});
    fetch(client_, {6}, kNew, 9);
    (void)findings();
    wait(AutoResets::kEvidenceMs);
    const auto lost = skipped();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->severity, Severity::block) << lost->condition;
    EXPECT_EQ(lost->count, 7);
}

TEST_F(AutoResetsTest, WhoGoesBackBeforeAnybodyLookedHasSkippedNothing) {
    start_at_latest(kNew, 7);
    fetch(kNew, 0);
    EXPECT_FALSE(skipped());
}

TEST_F(AutoResetsTest, AGroupThatWentBackAndBeginsAgainHasSkippedWhatLiesBeforeBoth) {
    start_at_latest(kNew, 7);
    ASSERT_TRUE(skipped());
    fetch(kNew, 3);
    EXPECT_FALSE(skipped());
    connections_.closed.insert(kFetches);
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{9});
    fetch(client_, {3}, kNew, 9);
    const auto lost = skipped();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->count, 3);
}

TEST_F(AutoResetsTest, WhoReadTheTopicWhenItGrewIsKnownBeforeTheFirstLook) {
    const std::set<std::string> readers = {"billing"};
    growths_.push_back({4, 6, now_, ends_});
    watch_.set_growths(growths_, &readers);
    starts_.resize(6);
    ends_.resize(6);
    add_group("late", {11});
    client_ = {"late-app", "/10.0.0.9"};
    groups_[1].members[0].client_id = client_.client_id;
    groups_[1].members[0].client_host = client_.address;
    ask("late", {11}, {4});
    watch_.on_list_offsets(client_, {4}, -1, Offset{7});
    fetch(client_, {12}, {4}, 7);
    EXPECT_FALSE(skipped("late")) << "it came after the growth, before anybody looked";
    client_ = {"billing-app", "/10.0.0.1"};
    start_at_latest({4}, 5);
    ASSERT_TRUE(skipped("billing"));
    EXPECT_EQ(skipped("billing")->count, 5);
}

TEST_F(AutoResetsTest, WhoLeftSoonIsTiedToItsGroupWhenOthersHadTheirTime) {
    assign_everything();
    (void)findings();
    start_at_latest(kNew, 7);
    connections_.closed.insert(kFetches);
    EXPECT_FALSE(skipped());
    wait(AutoResets::kEvidenceMs);
    const auto lost = skipped();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->severity, Severity::block);
}

TEST_F(AutoResetsTest, WhoLeftSoonMayHaveBeenAnybodyWhoWasThere) {
    assign_everything();
    (void)findings();
    start_at_latest(kNew, 7);
    connections_.closed.insert(kFetches);
    fetch(client_, {9}, kNew, 0);
    connections_.closed.insert({9});
    (void)skipped();
    wait(AutoResets::kEvidenceMs);
    EXPECT_EQ(skipped()->severity, Severity::warn);
}

TEST_F(AutoResetsTest, TheLossEndsWhenTheRecordsAreGone) {
    start_at_latest(kNew, 7);
    ASSERT_TRUE(skipped());
    starts_[2] = Offset{3};
    EXPECT_EQ(skipped()->count, 4);
    starts_[2] = Offset{7};
    EXPECT_FALSE(skipped());
}

TEST_F(AutoResetsTest, WhoIsFoundToHaveBegunBehindLaterHasSkippedNothing) {
    for (const ConnectionId id : {kCoordinator, kFetches, ConnectionId{3}}) {
        connections_.is_of(id, 100);
    }
    assign_everything();
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, -2, Offset{0});
    connections_.wanted.insert(kFetches);
    fetch(kNew, 0);
    (void)findings();
    connections_.closed.insert(kFetches);
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    fetch(client_, {3}, kNew, 7);
    (void)findings();
    connections_.wanted.clear();
    wait(AutoResets::kEvidenceMs);
    EXPECT_FALSE(skipped("billing")) << "nobody knows how much of the seven it read";
}

// The watch keeps beginnings that skip nothing, because later beginnings are judged by them. When there is no room, the groups
// count as having begun there: the watch omits later skips rather than telling too many.
TEST_F(AutoResetsTest, OfABeginningThatHasNoPlaceALaterOneIsNotTold) {
    (void)findings();
    for (std::size_t reader = 0; reader < AutoResets::kPlainStartsMax; ++reader) {
        const ClientIdentity client{"reader-" + std::to_string(reader), "/10.0.0.1"};
        watch_.on_offset_fetch("g" + std::to_string(reader), {100 + 2 * reader}, true, client, kNew, kNoOffset, now_);
        fetch(client, {101 + 2 * reader}, kNew, 0);
    }
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, -2, Offset{0});
    fetch(kNew, 0);
    connections_.closed.insert(kFetches);
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, -1, Offset{7});
    fetch(client_, {3}, kNew, 7);
    EXPECT_FALSE(skipped());
    // There is room for those that skip.
    start_at_latest({3}, 5);
    const auto lost = skipped();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->count, 5);
}

// "billing" comes first in the order of names, and of clients. The watch must not make room for others by dropping what it knows
// about the first.
TEST_F(AutoResetsTest, OfGroupsWhoseBeginningHasNoPlaceNoSkipIsTold) {
    (void)findings();
    for (std::size_t reader = 0; reader < AutoResets::kPlainStartsMax + AutoResets::kBeginningsMax; ++reader) {
        const ClientIdentity client{"reader-" + std::to_string(reader), "/10.0.0.1"};
        const std::string group = "g" + std::to_string(reader);
        watch_.on_offset_fetch(group, {100 + 2 * reader}, true, client, kNew, kNoOffset, now_);
        fetch(client, {101 + 2 * reader}, kNew, 0);
        watch_.on_offset_fetch(group, {100 + 2 * reader}, true, client, kNew, Offset{0}, now_);
    }
    ask("billing", kCoordinator, kNew);
    watch_.on_list_offsets(client_, kNew, -2, Offset{0});
    fetch(kNew, 0);
    connections_.closed.insert(kFetches);
    start_at_latest_over({3}, kNew, 7);
    EXPECT_FALSE(skipped()) << "it read these seven before";
}

TEST_F(AutoResetsTest, OfAGroupWhoseQuestionHasNoPlaceNoSkipIsTold) {
    (void)findings();
    ask("billing", kCoordinator, kNew);
    for (std::size_t reader = 0; reader < AutoResets::kAsksMax; ++reader) {
        const ClientIdentity client{"reader-" + std::to_string(reader), "/10.0.0.1"};
        watch_.on_offset_fetch("g", {100 + reader}, true, client, kNew, kNoOffset, now_);
    }
    fetch(kNew, 0);
    connections_.closed.insert(kFetches);
    start_at_latest_over({3}, kNew, 7);
    EXPECT_FALSE(skipped()) << "it read these seven before";
}

TEST_F(AutoResetsTest, WhenNotAllWhoGoBackHaveAPlaceNobodyHasSkippedWhatTheyRead) {
    start_at_latest({3}, 5);
    start_at_latest(kNew, 7);
    ASSERT_EQ(skipped()->count, 12);
    for (std::size_t reader = 0; reader < AutoResets::kReturnsMax; ++reader) {
        fetch({"mirror-" + std::to_string(reader), "/10.0.0.9"}, {100 + reader}, kNew, 6);
    }
    ASSERT_EQ(skipped()->count, 12);
    for (std::size_t reader = 0; reader < AutoResets::kReturnsMax; ++reader) {
        fetch({"mirror-" + std::to_string(reader), "/10.0.0.9"}, {100 + reader}, kNew, 6);
    }
    connections_.closed.insert(kFetches);
    fetch(client_, {3}, kNew, 0);
    const auto lost = skipped();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->count, 5) << "what is left is of the other partition";
}

TEST_F(AutoResetsTest, WhatItRemembersIsBounded) {
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        client_ = {"c" + std::to_string(i), "/10.0.0.1"};
        const std::string group = "g" + std::to_string(i);
        ask(group, {2 * i + 100}, kNew);
        watch_.on_list_offsets(client_, kNew, -1, Offset{3});
        fetch(client_, {2 * i + 101}, kNew, 3);
        commit(group, {{kNew, Offset{4}}});
    }
    EXPECT_LE(findings().size(), AutoResets::kSkipsMax + ReadingConnections::kReadingsMax);
    EXPECT_LE(watch_.groups_told().size(), AutoResets::kAsksMax + AutoResets::kStartsMax + AutoResets::kLastStartsMax);
}

}  // namespace
}  // namespace partita::insight
