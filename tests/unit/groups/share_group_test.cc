#include <gmock/gmock.h>

#include "broker/assignors/simple.h"
#include "tests/unit/groups/consumer_fixture.h"

namespace partita::groups::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ShareGroupTest : public ConsumerFixture {
  protected:
    ShareGroupTest() { set_topic("t", 2); }

    ShareHeartbeatResult share_beat(std::string_view member, std::int32_t epoch,
                                    std::optional<std::vector<std::string_view>> topics = std::nullopt) {
        ShareGroupHeartbeat command{.group_id = "q",
                                    .member_id = member,
                                    .member_epoch = epoch,
                                    .client_id = "client",
                                    .client_host = "/127.0.0.1",
                                    .reply_to = fresh_token()};
        if (topics) {
            command.topic_names = *topics;
        }
        run([&](Effects& effects) { coordinator_->decide(command, now_, effects); }, command.reply_to);
        return take_reply<ShareHeartbeatResult>(command.reply_to);
    }
    template <class Command>
    typename Command::Result ask(Command command) {
        command.reply_to = fresh_token();
        run([&](Effects& effects) { coordinator_->decide(command, now_, effects); }, command.reply_to);
        return take_reply<typename Command::Result>(command.reply_to);
    }
    void initialized(const Assignment& partitions, bool is_done = true) {
        ask(ShareInitialized{.group_id = "q", .partitions = partitions, .is_done = is_done, .reply_to = {}});
    }
    ShareGroupDescribeResult::Group describe_share(std::string_view group = "q") {
        return ask(ShareGroupDescribe{.group_ids = {&group, 1}, .reply_to = {}}).groups.at(0);
    }
    /// Joins a member and gives it its partitions.
    void join_share(std::string_view member) {
        const auto joined = share_beat(member, 0, {{"t"}});
        ASSERT_EQ(joined.error, ErrorCode::none) << joined.error_message.value_or("");
        initialized(joined.to_initialize);
        advance_ms(config_.share_assignment_interval_ms);
    }
};

TEST_F(ShareGroupTest, AMemberGetsPartitionsOnceTheirStateHasBegun) {
    const auto joined = share_beat("m1", 0, {{"t"}});
    EXPECT_EQ(joined.error, ErrorCode::none);
    EXPECT_EQ(joined.member_epoch, 2);
    EXPECT_EQ(joined.heartbeat_interval_ms, 5000);
    EXPECT_THAT(joined.assignment.value(), IsEmpty());
    EXPECT_EQ(joined.to_initialize, partitions("t", {0, 1}));
    EXPECT_EQ(joined.group_epoch, 2);
    // While that goes on, no other heartbeat asks for it.
    EXPECT_THAT(share_beat("m1", 2).to_initialize, IsEmpty());
    initialized(joined.to_initialize);
    advance_ms(1000);
    const auto next = share_beat("m1", 2);
    EXPECT_EQ(next.member_epoch, 3);
    EXPECT_EQ(next.assignment.value(), partitions("t", {0, 1}));
    // Afterwards there is no news.
    EXPECT_EQ(share_beat("m1", 3).assignment, std::nullopt);
    EXPECT_EQ(describe_share().state, "Stable");
    EXPECT_EQ(describe_share().assignor, "simple");
    EXPECT_EQ(describe_share().members.at(0).assignment.at(0).name, "t");
}

TEST_F(ShareGroupTest, FailedInitializationIsTriedAgain) {
    const auto joined = share_beat("m1", 0, {{"t"}});
    initialized(joined.to_initialize, false);
    EXPECT_EQ(share_beat("m1", 2).to_initialize, partitions("t", {0, 1}));
    advance_ms(config_.share_initialize_retry_interval_ms - 1);
    EXPECT_THAT(share_beat("m1", 2).to_initialize, IsEmpty());
    advance_ms(1);
    EXPECT_EQ(share_beat("m1", 2).to_initialize, partitions("t", {0, 1}));
}

TEST_F(ShareGroupTest, AGrownTopicBringsItsNewPartitions) {
    join_share("m1");
    EXPECT_EQ(share_beat("m1", 2).member_epoch, 3);
    set_topic("t", 3);
    const auto next = share_beat("m1", 3);
    EXPECT_EQ(next.to_initialize, partitions("t", {2}));
    initialized(next.to_initialize);
    advance_ms(1000);
    EXPECT_EQ(share_beat("m1", next.member_epoch).assignment.value(), partitions("t", {0, 1, 2}));
}

TEST_F(ShareGroupTest, SeveralMembersShareAPartition) {
    join_share("m1");
    join_share("m2");
    join_share("m3");
    for (const std::string_view member : {"m1", "m2", "m3"}) {
        const auto beaten = share_beat(member, 0, {{"t"}});
        ASSERT_EQ(beaten.error, ErrorCode::none);
        EXPECT_GE(assignors::partition_count(*beaten.assignment), 1u) << member;
        advance_ms(1000);
    }
}

TEST_F(ShareGroupTest, HeartbeatsAreJudgedAsInKafka) {
    EXPECT_EQ(share_beat("", 0, {{"t"}}).error_message, "MemberId can't be empty.");
    EXPECT_EQ(share_beat("m1", 0).error_message, "SubscribedTopicNames must be set in first request.");
    EXPECT_EQ(share_beat("m1", -2, {{"t"}}).error_message, "MemberEpoch is invalid.");
    EXPECT_EQ(share_beat("m1", 1).error, ErrorCode::group_id_not_found);
    EXPECT_EQ(share_beat("m1", 1).error_message, "Share group q not found.");
    EXPECT_EQ(share_beat("m1", -1).error_message, "Group q not found.");
    join_share("m1");
    EXPECT_EQ(share_beat("m2", 1).error, ErrorCode::unknown_member_id);
    EXPECT_EQ(share_beat("m2", 1).error_message, "Member m2 is not a member of group q.");
    EXPECT_EQ(share_beat("m1", 9).error, ErrorCode::fenced_member_epoch);
    ASSERT_EQ(share_beat("m1", 2).member_epoch, 3);
    EXPECT_EQ(share_beat("m1", 2).member_epoch, 3) << "the answer may have been lost";
    EXPECT_EQ(
        share_beat("m1", 1).error_message,
        "The share group member has a smaller member epoch (1) than the one known by the group coordinator (3), and it does "
        "not match the previous member epoch (2). The member must abandon all its partitions and rejoin.");
}

TEST_F(ShareGroupTest, AGroupOfAnotherTypeIsNotJoined) {
    join_and_follow(joining("m1"));
    ShareGroupHeartbeat command{.group_id = "g", .member_id = "m2", .reply_to = {}};
    const std::vector<std::string_view> names{"t"};
    command.topic_names = names;
    const auto refused = ask(command);
    EXPECT_EQ(refused.error, ErrorCode::group_id_not_found);
    EXPECT_EQ(refused.error_message, "Group g is not a share group.");
    join_share("m1");
    Beat beat_of_consumer = joining("m1");
    beat_of_consumer.group = "q";
    EXPECT_EQ(beat(beat_of_consumer).error, ErrorCode::group_id_not_found);
    EXPECT_EQ(describe_share("g").error_message, "Group g is not a share group.");
}

TEST_F(ShareGroupTest, AMemberThatIsSilentIsRemoved) {
    join_share("m1");
    advance_ms(config_.share_session_timeout_ms);
    EXPECT_EQ(share_beat("m1", 2).error, ErrorCode::unknown_member_id);
    EXPECT_EQ(describe_share().state, "Empty");
}

TEST_F(ShareGroupTest, AMemberLeavesAndTheGroupStays) {
    join_share("m1");
    const auto left = share_beat("m1", -1);
    EXPECT_EQ(left.error, ErrorCode::none);
    EXPECT_EQ(left.member_epoch, -1);
    advance_ms(config_.offsets_retention_check_interval_ms * 3);
    EXPECT_EQ(describe_share().state, "Empty");
    EXPECT_EQ(describe_share().epoch, 3);
}

TEST_F(ShareGroupTest, ASizeLimitHolds) {
    config_.share_max_size = 1;
    coordinator_->reconfigure(config_);
    join_share("m1");
    const auto refused = share_beat("m2", 0, {{"t"}});
    EXPECT_EQ(refused.error, ErrorCode::group_max_size_reached);
    EXPECT_EQ(refused.error_message, "The share group has reached its maximum capacity of 1 members.");
}

TEST_F(ShareGroupTest, ADeletedTopicIsForgotten) {
    join_share("m1");
    const TopicId id = id_of("t");
    drop_topic("t");
    run([&](Effects& effects) { coordinator_->topic_deleted({.name = "t", .topic_id = id}, now_, effects); }, {});
    EXPECT_THAT(ask(ShareGroupPartitions{.group_id = "q", .reply_to = {}}).partitions, IsEmpty());
    const auto next = share_beat("m1", 2);
    EXPECT_THAT(next.assignment.value_or(Assignment()), IsEmpty());
}

TEST_F(ShareGroupTest, OffsetsAreSetWhileTheGroupIsEmpty) {
    const Assignment altered = partitions("t", {1});
    const auto begun = ask(AlterShareOffsets{.group_id = "q", .partitions = altered, .reply_to = {}});
    EXPECT_EQ(begun.error, ErrorCode::none);
    EXPECT_EQ(begun.partitions, altered);
    initialized(altered);
    EXPECT_EQ(ask(ShareGroupPartitions{.group_id = "q", .reply_to = {}}).partitions, altered);
    join_share("m1");
    EXPECT_EQ(ask(AlterShareOffsets{.group_id = "q", .partitions = altered, .reply_to = {}}).error, ErrorCode::non_empty_group);
}

TEST_F(ShareGroupTest, DeletedOffsetsAreGoneOnceTheCallerSaysSo) {
    join_share("m1");
    const std::vector<TopicId> ids{id_of("t")};
    EXPECT_EQ(ask(DeleteShareOffsets{.group_id = "q", .topics = ids, .reply_to = {}}).error, ErrorCode::non_empty_group);
    share_beat("m1", -1);
    const auto deleting = ask(DeleteShareOffsets{.group_id = "q", .topics = ids, .reply_to = {}});
    EXPECT_EQ(deleting.partitions, partitions("t", {0, 1}));
    // A caller that failed asks again.
    EXPECT_EQ(ask(DeleteShareOffsets{.group_id = "q", .topics = ids, .reply_to = {}}).partitions, partitions("t", {0, 1}));
    ask(ShareDeleted{.group_id = "q", .topics = ids, .reply_to = {}});
    EXPECT_THAT(ask(DeleteShareOffsets{.group_id = "q", .topics = ids, .reply_to = {}}).partitions, IsEmpty());
}

TEST_F(ShareGroupTest, ARestartKeepsTheGroup) {
    join_share("m1");
    share_beat("m1", 2);
    const std::string before = coordinator_->dump();
    crash_and_restart();
    EXPECT_EQ(coordinator_->dump(), before);
    EXPECT_EQ(share_beat("m1", 3).member_epoch, 3);
    advance_ms(config_.share_session_timeout_ms - 1);
    EXPECT_EQ(describe_share().members.size(), 1u);
    advance_ms(1);
    EXPECT_EQ(describe_share().members.size(), 0u);
}

TEST(SimpleAssignorTest, EachPartitionHasAMemberAndEachMemberAPartition) {
    const TopicId topic = topic_id(1);
    for (std::int32_t partition_count : {1, 3, 7}) {
        for (std::size_t member_count : {1u, 2u, 5u, 20u}) {
            Assignment assignable{{topic, {}}};
            for (std::int32_t i = 0; i < partition_count; ++i) {
                assignable.front().partitions.push_back(i);
            }
            const std::vector<assignors::ShareGroupSpec::Member> members(member_count, {.topics = {topic}});
            std::map<std::int32_t, int> holders;
            std::size_t least = 1000;
            std::size_t most = 0;
            for (const Assignment& goal : assignors::assign_simply({.assignable = assignable, .members = members})) {
                least = std::min(least, assignors::partition_count(goal));
                most = std::max(most, assignors::partition_count(goal));
                for (const auto& held : goal) {
                    for (const std::int32_t partition : held.partitions) {
                        ++holders[partition];
                    }
                }
            }
            EXPECT_EQ(holders.size(), static_cast<std::size_t>(partition_count));
            EXPECT_LE(most - least, 1u) << partition_count << " partitions, " << member_count << " members";
            EXPECT_GE(least, std::cmp_less(partition_count, member_count) ? 1u : partition_count / member_count);
        }
    }
}

TEST(SimpleAssignorTest, AMemberKeepsWhatItMayKeep) {
    const TopicId topic = topic_id(1);
    const Assignment assignable{{topic, {0, 1, 2, 3}}};
    const Assignment all{{topic, {0, 1, 2, 3}}};
    const std::vector<assignors::ShareGroupSpec::Member> members{{.topics = {topic}, .previous = &all}, {.topics = {topic}}};
    const auto goals = assignors::assign_simply({.assignable = assignable, .members = members});
    EXPECT_EQ(goals[0], (Assignment{{topic, {2, 3}}}));
    EXPECT_EQ(goals[1], (Assignment{{topic, {0, 1}}}));
}

TEST(SimpleAssignorTest, MembersGetOnlyTheirTopics) {
    const Assignment assignable{{topic_id(1), {0, 1}}, {topic_id(2), {0}}};
    const std::vector<assignors::ShareGroupSpec::Member> members{{.topics = {topic_id(1), topic_id(2)}},
                                                                 {.topics = {topic_id(2)}}};
    const auto goals = assignors::assign_simply({.assignable = assignable, .members = members});
    EXPECT_EQ(goals[0], (Assignment{{topic_id(1), {0, 1}}, {topic_id(2), {0}}}));
    EXPECT_EQ(goals[1], (Assignment{{topic_id(2), {0}}}));
}

}  // namespace
}  // namespace partita::groups::testing
