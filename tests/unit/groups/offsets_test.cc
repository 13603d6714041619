#include <limits>

#include "tests/unit/groups/group_fixture.h"

namespace partita::groups::testing {
namespace {

class Offsets : public GroupFixture {};

TEST_F(Offsets, CommitFromOutsideCreatesASimpleGroup) {
    EXPECT_EQ(commit({.offsets = {{0, 5}, {3, 6}}}).error, ErrorCode::none);
    EXPECT_EQ(committed("topic", 0), 5);
    EXPECT_EQ(committed("topic", 3), 6);
    EXPECT_EQ(committed("topic", 1), -1);
    EXPECT_EQ(list(), std::vector<std::string>{"g  Empty classic"});
    EXPECT_EQ(group_records(), 0U);
}

TEST_F(Offsets, RecordCarriesEverything) {
    commit({.topic_id = topic_id(9), .offsets = {{2, 40}}, .metadata = "note"});
    const auto& record = last_record<OffsetCommitRecord>();
    EXPECT_EQ(record.group_id, "g");
    EXPECT_EQ(record.topic, "topic");
    EXPECT_EQ(record.partition.value, 2);
    EXPECT_EQ(record.offset.value, 40);
    EXPECT_EQ(record.leader_epoch.value, 3);
    EXPECT_EQ(record.metadata, "note");
    EXPECT_EQ(record.commit_timestamp, now_.wall);
    EXPECT_EQ(record.expire_timestamp, kNoTimestamp);
    EXPECT_EQ(record.topic_id, topic_id(9));
}

TEST_F(Offsets, RetentionInTheRequestBecomesAnExpiry) {
    commit({.retention_ms = 500, .version = 4});
    EXPECT_EQ(last_record<OffsetCommitRecord>().expire_timestamp.value, now_.wall.value + 500);
}

TEST_F(Offsets, RetentionBeyondTheEndOfTimeWrapsAsInJava) {
    commit({.retention_ms = std::numeric_limits<std::int64_t>::max(), .version = 4});
    EXPECT_EQ(last_record<OffsetCommitRecord>().expire_timestamp.value,
              std::numeric_limits<std::int64_t>::min() + (now_.wall.value - 1));
}

TEST_F(Offsets, GenerationOfAnUnknownGroupIsRefusedByVersion) {
    EXPECT_EQ(commit({.member = "m", .generation = 1, .version = 8}).error, ErrorCode::illegal_generation);
    EXPECT_EQ(commit({.member = "m", .generation = 1, .version = 9}).error, ErrorCode::group_id_not_found);
    EXPECT_EQ(coordinator_->group_count(), 0U);
}

TEST_F(Offsets, MembersCommitInTheirGeneration) {
    const auto ids = stable_group(1);
    EXPECT_EQ(commit({.member = ids[0], .generation = 1}).error, ErrorCode::none);
    EXPECT_EQ(commit({.member = ids[0], .generation = 0}).error, ErrorCode::illegal_generation);
    EXPECT_EQ(commit({.member = ids[0], .generation = 2}).error, ErrorCode::illegal_generation);
    EXPECT_EQ(commit({.member = ids[0]}).error, ErrorCode::illegal_generation);
    EXPECT_EQ(commit({.member = "nobody", .generation = 1}).error, ErrorCode::unknown_member_id);
    EXPECT_EQ(commit({.member = ids[0], .generation = 1, .instance = "i"}).error, ErrorCode::unknown_member_id);
}

TEST_F(Offsets, NobodyFromOutsideCommitsIntoALivingGroup) {
    stable_group(1);
    EXPECT_EQ(commit({}).error, ErrorCode::unknown_member_id);
}

TEST_F(Offsets, OutsidersMayCommitOnceTheGroupIsEmpty) {
    const auto ids = stable_group(1);
    leave(ids[0]);
    EXPECT_EQ(commit({}).error, ErrorCode::none);
    EXPECT_EQ(commit({.member = ids[0], .generation = 1}).error, ErrorCode::unknown_member_id);
}

TEST_F(Offsets, OldGenerationMayCommitUntilTheRebalanceCompletes) {
    const auto ids = stable_group(2);
    const ReplyToken leader = join({.id = ids[0]});
    EXPECT_EQ(commit({.member = ids[1], .generation = 1, .offsets = {{0, 11}}}).error, ErrorCode::none);
    EXPECT_EQ(committed("topic", 0), 11);
    join({.id = ids[1]});
    EXPECT_EQ(joined(leader).generation.value, 2);
    EXPECT_EQ(commit({.member = ids[1], .generation = 2}).error, ErrorCode::rebalance_in_progress);
    EXPECT_EQ(commit({.member = ids[1], .generation = 1}).error, ErrorCode::illegal_generation);
}

TEST_F(Offsets, LargeMetadataIsRefusedForItsPartitionOnly) {
    OffsetCommit::Partition partitions[] = {{{0}, {1}}, {{1}, {2}}, {{2}, {3}}};
    const std::string large(4'097, 'x');
    partitions[1].metadata = large;
    const OffsetCommit::Topic topic{"topic", {}, partitions};
    const OffsetCommit command{.group_id = "g", .topics = {&topic, 1}, .reply_to = fresh_token()};
    run([&](Effects& effects) { coordinator_->decide(command, now_, effects); }, command.reply_to);
    const auto result = take_reply<OffsetCommitResult>(command.reply_to);
    EXPECT_EQ(result.partition_errors, (std::vector{ErrorCode::none, ErrorCode::offset_metadata_too_large, ErrorCode::none}));
    EXPECT_EQ(committed("topic", 0), 1);
    EXPECT_EQ(committed("topic", 1), -1);
    EXPECT_EQ(committed("topic", 2), 3);
}

TEST_F(Offsets, MetadataIsMeasuredAsJavaDoes) {
    const auto repeated = [](std::string_view text, int times) {
        std::string out;
        for (int time = 0; time < times; ++time) {
            out += text;
        }
        return out;
    };
    // 4096 letters of two bytes each are 4096 UTF-16 units; 2048 emoji are as many, one more is too much.
    EXPECT_TRUE(commit({.metadata = repeated("ä", 4'096)}).partition_errors.empty());
    EXPECT_TRUE(commit({.metadata = repeated("😀", 2'048)}).partition_errors.empty());
    EXPECT_FALSE(commit({.metadata = repeated("😀", 2'049)}).partition_errors.empty());
    EXPECT_FALSE(commit({.metadata = repeated("ä", 4'097)}).partition_errors.empty());
    EXPECT_FALSE(commit({.metadata = repeated("\x80", 4'097)}).partition_errors.empty()) << "what is no text counts too";
}

TEST_F(Offsets, GroupThatCommittedNothingDoesNotComeToBe) {
    commit({.metadata = std::string(5'000, 'x')});
    EXPECT_EQ(coordinator_->group_count(), 0U);
}

TEST_F(Offsets, LaterCommitsReplaceEarlierOnes) {
    commit({.offsets = {{0, 5}}, .metadata = "old"});
    commit({.offsets = {{0, 4}}});
    const auto partition = fetch("g", "topic", {0}).topics.at(0).partitions.at(0);
    EXPECT_EQ(partition.offset.value, 4);
    EXPECT_EQ(partition.metadata, "");
    EXPECT_EQ(partition.leader_epoch.value, 3);
    EXPECT_EQ(coordinator_->offset_count(), 1U);
}

TEST_F(Offsets, PartitionsMayComeInAnyOrderAndTwice) {
    commit({.offsets = {{5, 50}, {1, 10}, {3, 30}, {3, 31}, {0, 0}, {9, 90}}});
    EXPECT_EQ(committed("topic", 5), 50);
    EXPECT_EQ(committed("topic", 1), 10);
    EXPECT_EQ(committed("topic", 3), 31);
    EXPECT_EQ(committed("topic", 0), 0);
    EXPECT_EQ(committed("topic", 9), 90);
    EXPECT_EQ(coordinator_->offset_count(), 5U);
}

TEST_F(Offsets, CommitFindsItsPlaceAfterWhatStoodThereIsGone) {
    commit({.offsets = {{0, 1}, {1, 2}, {2, 3}}});
    // These disappear in turn: the partition behind the last commit's, that of the last commit, the topic, and the group.
    commit({.offsets = {{1, 4}}});
    delete_offsets("g", "topic", {2});
    commit({.offsets = {{1, 5}, {2, 6}}});
    delete_offsets("g", "topic", {2});
    commit({.offsets = {{2, 7}}});
    EXPECT_EQ(committed("topic", 1), 5);
    EXPECT_EQ(committed("topic", 2), 7);
    delete_topic("topic", {});
    commit({.offsets = {{2, 8}}});
    EXPECT_EQ(committed("topic", 1), -1);
    EXPECT_EQ(committed("topic", 2), 8);
    EXPECT_EQ(delete_group("g"), ErrorCode::none);
    commit({.offsets = {{2, 9}}});
    commit({.topic = "other", .offsets = {{2, 10}}});
    commit({.group = "h", .offsets = {{2, 11}}});
    EXPECT_EQ(committed("topic", 2), 9);
    EXPECT_EQ(committed("other", 2), 10);
    EXPECT_EQ(committed("topic", 2, "h"), 11);
}

TEST_F(Offsets, UnknownGroupHasNoOffsetsAndNoError) {
    const auto group = fetch("nobody", "topic", {0, 1});
    EXPECT_EQ(group.error, ErrorCode::none);
    ASSERT_EQ(group.topics.at(0).partitions.size(), 2U);
    EXPECT_EQ(group.topics[0].partitions[1].offset.value, -1);
    EXPECT_EQ(group.topics[0].partitions[1].leader_epoch.value, -1);
    EXPECT_EQ(group.topics[0].partitions[1].metadata, "");
    EXPECT_EQ(group.topics[0].partitions[1].error, ErrorCode::none);
    EXPECT_TRUE(fetch_all("nobody").topics.empty());
}

TEST_F(Offsets, AllTopicsComeInOrder) {
    commit({.topic = "b", .offsets = {{1, 1}, {0, 0}}});
    commit({.topic = "a", .topic_id = topic_id(1)});
    const auto group = fetch_all("g");
    ASSERT_EQ(group.topics.size(), 2U);
    EXPECT_EQ(group.topics[0].name, "a");
    EXPECT_EQ(group.topics[0].topic_id, topic_id(1));
    EXPECT_EQ(group.topics[1].name, "b");
    EXPECT_EQ(group.topics[1].partitions.at(0).partition.value, 0);
    EXPECT_EQ(group.topics[1].partitions.at(1).partition.value, 1);
}

TEST_F(Offsets, SeveralGroupsAreFetchedAtOnceByAnybody) {
    commit({.group = "one", .offsets = {{0, 1}}});
    commit({.group = "two", .offsets = {{0, 2}}});
    const PartitionIndex partition{0};
    const OffsetFetch::Topic topic{"topic", {}, {&partition, 1}};
    const std::span<const OffsetFetch::Topic> topics(&topic, 1);
    const OffsetFetch::Group groups[] = {{.group_id = "two", .topics = topics},
                                         {.group_id = "one", .member_id = "stranger", .member_epoch = 5, .topics = topics},
                                         {.group_id = "three"}};
    const auto result = fetch_groups(groups);
    ASSERT_EQ(result.groups.size(), 3U);
    EXPECT_EQ(result.groups[0].topics.at(0).partitions.at(0).offset.value, 2);
    EXPECT_EQ(result.groups[1].topics.at(0).partitions.at(0).offset.value, 1);
    EXPECT_TRUE(result.groups[2].topics.empty());
}

TEST_F(Offsets, OffsetOfAnotherTopicIdCountsAsNone) {
    commit({.topic_id = topic_id(1)});
    EXPECT_EQ(fetch("g", "topic", {0}, topic_id(2)).topics.at(0).partitions.at(0).offset.value, -1);
    EXPECT_EQ(fetch("g", "topic", {0}, topic_id(1)).topics.at(0).partitions.at(0).offset.value, 7);
    EXPECT_EQ(fetch("g", "topic", {0}).topics.at(0).partitions.at(0).offset.value, 7);
    commit({.topic = "older"});
    EXPECT_EQ(fetch("g", "older", {0}, topic_id(2)).topics.at(0).partitions.at(0).offset.value, 7);
}

TEST_F(Offsets, DeletedTopicLosesItsOffsets) {
    commit({.topic_id = topic_id(1), .offsets = {{0, 1}, {1, 2}}});
    commit({.topic = "other"});
    delete_topic("topic", topic_id(1));
    EXPECT_EQ(committed("topic", 0), -1);
    EXPECT_EQ(committed("other", 0), 7);
    EXPECT_EQ(last_record<OffsetTombstone>().partition.value, 1);
}

// The state is as after a start: the process died after the deletion of the topic and before the deletion of its commits. The
// catalog has forgotten the name.
TEST_F(Offsets, OfATopicThatWasDeletedUnderANameThatIsForgottenGoByItsId) {
    commit({.topic_id = topic_id(1)});
    commit({.topic = "older"});
    commit({.topic = "lost", .topic_id = topic_id(77), .offsets = {{0, 1}, {1, 2}}});
    delete_topic("", topic_id(77));
    EXPECT_EQ(committed("topic", 0), 7);
    EXPECT_EQ(committed("older", 0), 7) << "nobody knows of which topic of that name it is";
    EXPECT_EQ(committed("lost", 0), -1);
    EXPECT_EQ(last_record<OffsetTombstone>().topic, "lost");
    EXPECT_EQ(last_record<OffsetTombstone>().partition.value, 1);
}

TEST_F(Offsets, OfATopicThatTheClusterDoesNotKnowOutliveAStart) {
    commit({.topic = "on-another-disk", .topic_id = topic_id(77)});
    crash_and_restart();
    EXPECT_EQ(committed("on-another-disk", 0), 7);
}

// A power failure may take the record that made a topic and leave commits for it.
TEST_F(Offsets, OfAnEarlierTopicOfTheNameGoWithTheOneThatIsDeleted) {
    commit({.topic_id = topic_id(1), .offsets = {{0, 1}}});
    commit({.topic_id = topic_id(2), .offsets = {{1, 2}}});
    delete_topic("topic", topic_id(2));
    EXPECT_EQ(committed("topic", 0), -1);
    EXPECT_EQ(committed("topic", 1), -1);
}

TEST_F(Offsets, DeletingOffsets) {
    commit({.offsets = {{0, 1}, {1, 2}}});
    const auto result = delete_offsets("g", "topic", {0, 5});
    EXPECT_EQ(result.error, ErrorCode::none);
    EXPECT_EQ(result.topics.at(0).partitions.at(0).error, ErrorCode::none);
    EXPECT_EQ(result.topics.at(0).partitions.at(1).error, ErrorCode::none);
    EXPECT_EQ(committed("topic", 0), -1);
    EXPECT_EQ(committed("topic", 1), 2);
    EXPECT_EQ(last_record<OffsetTombstone>().partition.value, 0);
    EXPECT_EQ(log_.size(), 3U);  // no tombstone for what was not there
}

TEST_F(Offsets, DeletingOffsetsOfASubscribedTopicIsRefused) {
    const auto ids = stable_group(1);
    commit({.member = ids[0], .generation = 1});
    commit({.member = ids[0], .generation = 1, .topic = "former"});
    EXPECT_EQ(delete_offsets("g", "topic", {0}).topics.at(0).partitions.at(0).error, ErrorCode::group_subscribed_to_topic);
    EXPECT_EQ(delete_offsets("g", "former", {0}).topics.at(0).partitions.at(0).error, ErrorCode::none);
    EXPECT_EQ(committed("topic", 0), 7);
    EXPECT_EQ(committed("former", 0), -1);
    leave(ids[0]);
    EXPECT_EQ(delete_offsets("g", "topic", {0}).topics.at(0).partitions.at(0).error, ErrorCode::none);
}

TEST_F(Offsets, DeletingOffsetsOfALivingGroupOfAnotherKindIsRefused) {
    stable_group(1, {.type = "connect"});
    EXPECT_EQ(delete_offsets("g", "topic", {0}).error, ErrorCode::non_empty_group);
    EXPECT_EQ(delete_offsets("nobody", "topic", {0}).error, ErrorCode::group_id_not_found);
    EXPECT_EQ(delete_offsets("", "topic", {0}).error, ErrorCode::invalid_group_id);
}

TEST_F(Offsets, GroupThatDoesNotKnowItsTopicsMayUseAll) {
    stable_group(1, {.protocols = {{"range", "?"}}});
    EXPECT_EQ(delete_offsets("g", "topic", {0}).topics.at(0).partitions.at(0).error, ErrorCode::group_subscribed_to_topic);
}

constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;

class Expiry : public GroupFixture {
  protected:
    void let_days_pass(int days, const std::vector<std::string>& alive = {}, std::int32_t generation = 1) {
        for (std::int64_t passed = 0; passed < days * kDayMs; passed += 3'600'000) {
            advance_ms(3'600'000);
            for (const std::string& id : alive) {
                EXPECT_EQ(heartbeat(id, generation), ErrorCode::none);
            }
        }
    }
    std::vector<std::string> patient_group(std::vector<std::string> topics, std::string type = "consumer") {
        config_.max_session_timeout_ms = 5'000'000;
        crash_and_restart();
        return stable_group(
            1, {.type = std::move(type), .protocols = {{"range", subscription_to(topics)}}, .session_ms = 5'000'000});
    }
};

TEST_F(Expiry, SimpleGroupsLoseOffsetsSevenDaysAfterTheCommitAndVanish) {
    commit({.offsets = {{0, 1}}});
    let_days_pass(4);
    commit({.offsets = {{1, 1}}});
    let_days_pass(3);
    advance_ms(600'000);
    EXPECT_EQ(committed("topic", 0), -1);
    EXPECT_EQ(committed("topic", 1), 1);
    let_days_pass(4);
    advance_ms(600'000);
    EXPECT_EQ(coordinator_->group_count(), 0U);
    EXPECT_EQ(last_record<GroupTombstone>().group_id, "g");
}

TEST_F(Expiry, EmptyGroupsCountFromWhenTheyBecameEmpty) {
    const auto ids = patient_group({"topic"});
    commit({.member = ids[0], .generation = 1});
    let_days_pass(20, ids);
    EXPECT_EQ(committed("topic", 0), 7);
    leave(ids[0]);
    let_days_pass(6);
    EXPECT_EQ(committed("topic", 0), 7);
    let_days_pass(1);
    advance_ms(600'000);
    EXPECT_EQ(committed("topic", 0), -1);
    EXPECT_EQ(coordinator_->group_count(), 0U);
}

TEST_F(Expiry, LivingGroupsLoseOffsetsOfTopicsTheyNoLongerUse) {
    const auto ids = patient_group({"topic"});
    commit({.member = ids[0], .generation = 1});
    commit({.member = ids[0], .generation = 1, .topic = "former"});
    let_days_pass(8, ids);
    EXPECT_EQ(committed("topic", 0), 7);
    EXPECT_EQ(committed("former", 0), -1);
    EXPECT_EQ(state(), GroupState::stable);
}

TEST_F(Expiry, LivingGroupsOfOtherKindsKeepEverything) {
    const auto ids = patient_group({"topic"}, "connect");
    commit({.member = ids[0], .generation = 1, .topic = "any"});
    let_days_pass(10, ids);
    EXPECT_EQ(committed("any", 0), 7);
}

TEST_F(Expiry, LivingGroupsThatDoNotSayWhatTheyUseKeepEverything) {
    config_.max_session_timeout_ms = 5'000'000;
    crash_and_restart();
    const auto ids = stable_group(1, {.protocols = {{"range", "?"}}, .session_ms = 5'000'000});
    commit({.member = ids[0], .generation = 1, .topic = "any"});
    let_days_pass(10, ids);
    EXPECT_EQ(committed("any", 0), 7);
}

TEST_F(Expiry, RetentionOfTheCommitReplacesTheBrokers) {
    commit({.retention_ms = 3'600'000, .version = 4});
    advance_ms(3'600'000);
    advance_ms(600'000);
    EXPECT_EQ(committed("topic", 0), -1);
}

TEST_F(Expiry, EmptyGroupWithoutOffsetsVanishesAtTheNextCheck) {
    fresh_id();
    EXPECT_EQ(coordinator_->group_count(), 1U);
    advance_ms(600'000);
    EXPECT_EQ(coordinator_->group_count(), 0U);
}

}  // namespace
}  // namespace partita::groups::testing
