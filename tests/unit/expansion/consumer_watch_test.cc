#include "broker/expansion/consumer_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace partita::expansion {
namespace {

/// A topic "orders" that grew from 2 to 4 partitions, with group "billing" of one member.
class ConsumerWatchTest : public testing::Test {
  protected:
    static constexpr PartitionIndex kOld{0};
    static constexpr PartitionIndex kNew{2};

    ConsumerWatchTest() {
        watch_.set_growth(2, 4, now_);
        group_ = {.group_id = "billing", .protocol_type = "consumer", .protocol = "range"};
        group_.members = {{"billing-app", "/10.0.0.1", {{0}, {1}}}};
        group_.committed.assign(4, kNoOffset);
    }

    std::vector<Finding> findings() {
        const std::vector<GroupFacts> groups = {group_};
        return watch_.findings({.old_count = 2,
                                .new_count = 4,
                                .expanded = expanded_,
                                .cut = cut_,
                                .log_starts = starts_,
                                .log_ends = ends_,
                                .groups = groups,
                                .keys = &keys_},
                               now_);
    }
    std::optional<Finding> finding(HazardId id) {
        const std::vector<Finding> all = findings();
        const auto found = std::ranges::find(all, id, &Finding::id);
        return found == all.end() ? std::nullopt : std::optional(*found);
    }
    void wait(std::int64_t duration_ms) { now_.value += duration_ms; }
    void assign_everything() { group_.members[0].assigned = {{0}, {1}, {2}, {3}}; }

    /// The group asks for its offset in a new partition, is told there is none, and goes to the end.
    void start_at_latest(PartitionIndex partition, Offset latest) {
        watch_.on_offset_fetch("billing", client_, partition, kNoOffset, now_);
        watch_.on_list_latest(client_, partition, latest);
        watch_.on_fetch(client_, partition, latest, now_);
    }
    void commit(std::string_view group, std::vector<ConsumerWatch::Commit> commits) { watch_.on_commit(group, commits); }
    void add_key(const std::string& key, PartitionIndex partition, std::int32_t epoch, Offset offset) {
        keys_.add({.key = as_bytes(key), .key_hash = std::hash<std::string>()(key), .partition = partition, .epoch = epoch, .offset = offset});
    }

    TimestampMs now_{1'000'000};
    TimestampMs expanded_ = now_;
    ClientIdentity client_{"billing-app", "/10.0.0.1"};
    ConsumerWatch watch_{"orders"};
    GroupFacts group_;
    KeyIndex keys_{1000};
    std::vector<Offset> cut_{Offset{100}, Offset{50}};
    std::vector<Offset> starts_{Offset{0}, Offset{0}, Offset{0}, Offset{0}};
    std::vector<Offset> ends_{Offset{100}, Offset{50}, Offset{0}, Offset{0}};
};

TEST_F(ConsumerWatchTest, CountsExactlyTheRecordsThatLatestSkipped) {
    ends_[2] = Offset{7};
    start_at_latest(kNew, Offset{7});
    const auto skipped = finding(HazardId::latest_loses_first_records);
    ASSERT_TRUE(skipped);
    EXPECT_EQ(skipped->count, 7);
    EXPECT_EQ(skipped->subject.group, "billing");
}

TEST_F(ConsumerWatchTest, AddsUpWhatAGroupSkippedInSeveralPartitions) {
    start_at_latest({2}, Offset{7});
    start_at_latest({3}, Offset{5});
    const auto skipped = finding(HazardId::latest_loses_first_records);
    ASSERT_TRUE(skipped);
    EXPECT_EQ(skipped->count, 12);
    EXPECT_EQ(skipped->numbers[1], (FindingNumber{"partitions", 2}));
}

TEST_F(ConsumerWatchTest, AnEmptyNewPartitionLosesNothing) {
    start_at_latest(kNew, Offset{0});
    EXPECT_FALSE(finding(HazardId::latest_loses_first_records));
}

TEST_F(ConsumerWatchTest, ALagMonitorThatDoesNotFetchProvesNoLoss) {
    watch_.on_offset_fetch("billing", client_, kNew, kNoOffset, now_);
    watch_.on_list_latest(client_, kNew, Offset{7});
    EXPECT_FALSE(finding(HazardId::latest_loses_first_records));
}

TEST_F(ConsumerWatchTest, AReaderFromTheBeginningLosesNothing) {
    watch_.on_offset_fetch("billing", client_, kNew, kNoOffset, now_);
    watch_.on_fetch(client_, kNew, Offset{0}, now_);
    EXPECT_FALSE(finding(HazardId::latest_loses_first_records));
}

TEST_F(ConsumerWatchTest, AFetchOfAnOldPartitionIsNoLoss) {
    start_at_latest(kOld, Offset{100});
    EXPECT_FALSE(finding(HazardId::latest_loses_first_records));
}

TEST_F(ConsumerWatchTest, TheLossEndsWhenTheGroupGoesBack) {
    start_at_latest(kNew, Offset{7});
    commit("billing", {{kNew, Offset{0}}});
    EXPECT_FALSE(finding(HazardId::latest_loses_first_records));
}

TEST_F(ConsumerWatchTest, TheLossOfOnePartitionIsEndedByNobodyElsesReading) {
    start_at_latest(kNew, Offset{7});
    const ClientIdentity other{"billing-app", "/10.0.0.2"};
    watch_.on_fetch(other, kNew, Offset{0}, now_);
    watch_.on_fetch(client_, {3}, Offset{0}, now_);
    watch_.on_fetch(client_, kNew, Offset{7}, now_);
    EXPECT_TRUE(finding(HazardId::latest_loses_first_records));
    watch_.on_fetch(client_, kNew, Offset{6}, now_);
    EXPECT_FALSE(finding(HazardId::latest_loses_first_records));
}

TEST_F(ConsumerWatchTest, TheLossIsOfTheClientThatSkippedLast) {
    start_at_latest(kNew, Offset{7});
    const ClientIdentity first = client_;
    client_ = {"billing-app-2", "/10.0.0.3"};
    start_at_latest(kNew, Offset{9});
    watch_.on_fetch(first, kNew, Offset{0}, now_);
    const auto lost = finding(HazardId::latest_loses_first_records);
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->count, 9);
}

TEST_F(ConsumerWatchTest, TheLossEndsWhenTheRecordsAreGone) {
    start_at_latest(kNew, Offset{7});
    starts_[2] = Offset{3};
    EXPECT_EQ(finding(HazardId::latest_loses_first_records)->count, 4);
    starts_[2] = Offset{7};
    EXPECT_FALSE(finding(HazardId::latest_loses_first_records));
}

TEST_F(ConsumerWatchTest, AClientThatFindsNoOffsetAndLeavesHasCrashed) {
    watch_.on_offset_fetch("billing", client_, kNew, kNoOffset, now_);
    group_.members.clear();
    EXPECT_FALSE(finding(HazardId::none_crashes)) << "it may still come back";
    wait(ConsumerWatch::kNoneCrashMs);
    ASSERT_TRUE(finding(HazardId::none_crashes));
    watch_.on_fetch(client_, kNew, Offset{0}, now_);
    EXPECT_FALSE(finding(HazardId::none_crashes)) << "it reads now";
}

TEST_F(ConsumerWatchTest, AMemberThatStaysHasNotCrashed) {
    watch_.on_offset_fetch("billing", client_, kNew, kNoOffset, now_);
    wait(ConsumerWatch::kNoneCrashMs);
    EXPECT_FALSE(finding(HazardId::none_crashes));
}

TEST_F(ConsumerWatchTest, AGroupWithoutTheNewPartitionsIsBlindWhileRecordsWait) {
    wait(ConsumerWatch::kBlindMs);
    EXPECT_FALSE(finding(HazardId::group_blind)) << "nothing waits";
    ends_[2] = Offset{9};
    const auto blind = finding(HazardId::group_blind);
    ASSERT_TRUE(blind);
    EXPECT_EQ(blind->count, 9);
    assign_everything();
    EXPECT_FALSE(finding(HazardId::group_blind));
}

TEST_F(ConsumerWatchTest, AGroupHasTimeToTakeNewPartitions) {
    ends_[2] = Offset{9};
    wait(ConsumerWatch::kBlindMs - 1);
    EXPECT_FALSE(finding(HazardId::group_blind));
}

TEST_F(ConsumerWatchTest, AReaderOutsideOfGroupsIsNamedUntilItReadsNewPartitions) {
    const ClientIdentity flink{"flink", "/10.0.0.2"};
    wait(ConsumerWatch::kBlindMs);
    watch_.on_fetch(flink, {0}, Offset{5}, now_);
    watch_.on_fetch(flink, {1}, Offset{5}, now_);
    const auto manual = finding(HazardId::manual_readers);
    ASSERT_TRUE(manual);
    EXPECT_EQ(manual->subject.client_id, "flink");
    EXPECT_EQ(manual->count, 2);
    EXPECT_FALSE(finding(HazardId::external_offsets));
    watch_.on_fetch(flink, {2}, Offset{0}, now_);
    EXPECT_FALSE(finding(HazardId::manual_readers));
    const auto external = finding(HazardId::external_offsets);
    ASSERT_TRUE(external);
    EXPECT_EQ(external->subject.client_id, "flink");
    wait(ConsumerWatch::kSilentMs + 1);
    EXPECT_FALSE(finding(HazardId::external_offsets));
}

TEST_F(ConsumerWatchTest, AMemberThatLeftIsNoReaderOutsideOfGroups) {
    assign_everything();
    watch_.on_fetch(client_, {0}, Offset{5}, now_);
    watch_.on_fetch(client_, kNew, Offset{5}, now_);
    EXPECT_FALSE(finding(HazardId::external_offsets));
    group_.members.clear();
    wait(1000);
    watch_.on_fetch(client_, kNew, Offset{6}, now_);
    EXPECT_FALSE(finding(HazardId::external_offsets)) << "its last fetch was under way";
    wait(ConsumerWatch::kBlindMs);
    watch_.on_fetch(client_, kNew, Offset{7}, now_);
    EXPECT_TRUE(finding(HazardId::external_offsets)) << "it goes on by itself";
}

TEST_F(ConsumerWatchTest, AMirrorIsToldByItsName) {
    const ClientIdentity mirror{"A->B|MirrorSourceConnector-0|replication-consumer", "/10.0.0.2"};
    watch_.on_fetch(mirror, {0}, Offset{5}, now_);
    const auto copied = finding(HazardId::mirrors);
    ASSERT_TRUE(copied);
    EXPECT_NE(copied->condition.find("none of the new partitions"), std::string::npos);
    watch_.on_fetch(mirror, kNew, Offset{0}, now_);
    EXPECT_EQ(finding(HazardId::mirrors)->condition.find("none of the new partitions"), std::string::npos);
}

TEST_F(ConsumerWatchTest, SeededOffsetsAreListedUntilTheGroupCommitsOverThem) {
    group_.seeded_partitions = 2;
    const auto seeded = finding(HazardId::seeded_offsets);
    ASSERT_TRUE(seeded);
    EXPECT_EQ(seeded->count, 2);
    EXPECT_EQ(seeded->subject.group, "billing");
    group_.seeded_partitions = 0;
    EXPECT_FALSE(finding(HazardId::seeded_offsets));
}

TEST_F(ConsumerWatchTest, MembersOfGroupsAreNoManualReaders) {
    wait(ConsumerWatch::kBlindMs);
    watch_.on_fetch(client_, {0}, Offset{5}, now_);
    EXPECT_FALSE(finding(HazardId::manual_readers));
}

TEST_F(ConsumerWatchTest, AReplayFromBeforeTheGrowthIsCountedUntilItsRecordsAreGone) {
    const ClientIdentity audit{"audit", "/10.0.0.3"};
    watch_.on_fetch(audit, {1}, Offset{50}, now_);
    EXPECT_FALSE(finding(HazardId::replay_inversion)) << "it begins at the cut";
    watch_.on_fetch(audit, {0}, Offset{30}, now_);
    watch_.on_fetch(audit, {0}, Offset{60}, now_);
    ASSERT_TRUE(finding(HazardId::replay_inversion));
    EXPECT_EQ(finding(HazardId::replay_inversion)->count, 70);
    EXPECT_EQ(finding(HazardId::replay_inversion)->subject.client_id, "audit");
    starts_[0] = Offset{90};
    EXPECT_EQ(finding(HazardId::replay_inversion)->count, 10);
    starts_[0] = Offset{100};
    EXPECT_FALSE(finding(HazardId::replay_inversion));
}

TEST_F(ConsumerWatchTest, AReplayEndsWithItsReader) {
    watch_.on_fetch({"audit", "/10.0.0.3"}, {0}, Offset{0}, now_);
    ASSERT_TRUE(finding(HazardId::replay_inversion));
    wait(ConsumerWatch::kSilentMs + 1);
    EXPECT_FALSE(finding(HazardId::replay_inversion));
}

TEST_F(ConsumerWatchTest, MembersOfGroupsAreToldOfTheirBacklogInstead) {
    watch_.on_fetch(client_, {0}, Offset{0}, now_);
    EXPECT_FALSE(finding(HazardId::replay_inversion));
}

TEST_F(ConsumerWatchTest, AReaderThatStoppedIsForgotten) {
    wait(ConsumerWatch::kBlindMs);
    watch_.on_fetch({"flink", "/10.0.0.2"}, {0}, Offset{5}, now_);
    wait(ConsumerWatch::kSilentMs + 1);
    EXPECT_FALSE(finding(HazardId::manual_readers));
}

TEST_F(ConsumerWatchTest, ABacklogCountsWhileNewPartitionsAreRead) {
    group_.committed[0] = Offset{90};
    group_.committed[1] = Offset{50};
    EXPECT_FALSE(finding(HazardId::backlog_inversion)) << "nothing new is read yet";
    assign_everything();
    const auto backlog = finding(HazardId::backlog_inversion);
    ASSERT_TRUE(backlog);
    EXPECT_EQ(backlog->count, 10);
    group_.committed[0] = Offset{100};
    EXPECT_FALSE(finding(HazardId::backlog_inversion));
}

TEST_F(ConsumerWatchTest, ACommitBeyondANewRecordBeforeAnOlderOneIsAnInversion) {
    add_key("a", kOld, 0, Offset{95});
    add_key("a", kNew, 1, Offset{0});
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{1}}});
    const auto inversion = finding(HazardId::inversion_delivered);
    ASSERT_TRUE(inversion);
    EXPECT_EQ(inversion->count, 1);
    EXPECT_EQ(inversion->examples, (std::vector<ExampleKey>{{"a", kOld, kNew}}));
}

TEST_F(ConsumerWatchTest, AnInversionIsToldUntilTheOlderRecordsAreGone) {
    add_key("a", kOld, 0, Offset{95});
    add_key("a", kNew, 1, Offset{0});
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{1}}});
    starts_[0] = Offset{95};
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
    starts_[0] = Offset{96};
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, InversionsWhoseRecordsAreGoneMakeRoom) {
    const auto invert = [&](const std::string& name, std::size_t keys, std::int64_t older) {
        for (std::size_t key = 0; key < keys; ++key) {
            add_key(name + std::to_string(key), kOld, 0, Offset{older});
            add_key(name + std::to_string(key), kNew, 1, Offset{older});
        }
        commit("billing", {{kOld, Offset{older}}});
        commit("billing", {{kNew, Offset{older + 1}}});
    };
    keys_ = KeyIndex{ConsumerWatch::kInvertedKeysMax * 2};
    invert("early", ConsumerWatch::kInvertedKeysMax, 10);
    ASSERT_EQ(finding(HazardId::inversion_delivered)->count, ConsumerWatch::kInvertedKeysMax);
    starts_[0] = Offset{11};
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
    invert("late", 3, 90);
    ASSERT_TRUE(finding(HazardId::inversion_delivered));
    EXPECT_EQ(finding(HazardId::inversion_delivered)->count, 3);
}

TEST_F(ConsumerWatchTest, WhatAStaleProducerAddedHidesNoInversion) {
    add_key("a", kOld, 0, Offset{95});
    add_key("a", kOld, 1, Offset{120});
    add_key("a", kNew, 1, Offset{0});
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{1}}});
    ASSERT_TRUE(finding(HazardId::inversion_delivered));
    EXPECT_EQ(finding(HazardId::inversion_delivered)->count, 1);
}

TEST_F(ConsumerWatchTest, WhatAStaleProducerAddedIsItselfNoInversion) {
    add_key("a", kOld, 0, Offset{95});
    add_key("a", kOld, 1, Offset{120});
    add_key("a", kNew, 1, Offset{0});
    commit("billing", {{kOld, Offset{96}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "of 120 and the new one nobody can tell which came first";
}

TEST_F(ConsumerWatchTest, InOrderCommitsAreNoInversion) {
    add_key("a", kOld, 0, Offset{95});
    add_key("a", kNew, 1, Offset{0});
    commit("billing", {{kOld, Offset{96}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, AnInversionIsJudgedByThePositionsOfItsMoment) {
    add_key("a", kOld, 0, Offset{95});
    add_key("a", kNew, 1, Offset{0});
    commit("billing", {{kOld, Offset{10}}});
    commit("billing", {{kNew, Offset{1}}});
    commit("billing", {{kOld, Offset{100}}});
    EXPECT_TRUE(finding(HazardId::inversion_delivered)) << "the old record was read later, which is the inversion";
}

TEST_F(ConsumerWatchTest, APositionFromBeforeTheGrowthCountsToo) {
    add_key("a", kOld, 0, Offset{95});
    add_key("a", kNew, 1, Offset{0});
    group_.committed[0] = Offset{20};
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, WhatOneRequestCommitsIsCommittedAtOnce) {
    add_key("a", kOld, 0, Offset{95});
    add_key("a", kNew, 1, Offset{0});
    commit("billing", {{kNew, Offset{1}}, {kOld, Offset{96}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, KeysThatStayAreNeverInverted) {
    add_key("a", kOld, 0, Offset{95});
    add_key("a", kOld, 1, Offset{101});
    commit("billing", {{kOld, Offset{50}}});
    commit("billing", {{kNew, Offset{10}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, WhatItRemembersIsBounded) {
    for (std::int32_t i = 0; i < 20'000; ++i) {
        const ClientIdentity client{"c" + std::to_string(i), "/10.0.0.1"};
        watch_.on_offset_fetch("g" + std::to_string(i), client, kNew, kNoOffset, now_);
        watch_.on_list_latest(client, kNew, Offset{3});
        watch_.on_fetch(client, kNew, Offset{3}, now_);
        commit("g" + std::to_string(i), {{kNew, Offset{4}}});
    }
    EXPECT_LE(findings().size(), ConsumerWatch::kSkipsMax + ConsumerWatch::kClientsMax);
}

}  // namespace
}  // namespace partita::expansion
