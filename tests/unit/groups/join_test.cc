#include "tests/support/declared_settings.h"
#include "tests/unit/groups/group_fixture.h"

namespace partita::groups::testing {
namespace {

class Join : public GroupFixture {};

TEST_F(Join, EmptyGroupIdIsInvalid) { EXPECT_EQ(joined(join({.group = ""})).error, ErrorCode::invalid_group_id); }

TEST_F(Join, SessionTimeoutMustBeWithinTheConfiguredBounds) {
    EXPECT_EQ(joined(join({.session_ms = 5'999})).error, ErrorCode::invalid_session_timeout);
    EXPECT_EQ(joined(join({.session_ms = 1'800'001})).error, ErrorCode::invalid_session_timeout);
    EXPECT_EQ(joined(join({.session_ms = 6'000})).error, ErrorCode::member_id_required);
    EXPECT_EQ(joined(join({.session_ms = 1'800'000})).error, ErrorCode::member_id_required);
}

TEST_F(Join, IdOfAnUnknownGroupIsUnknown) {
    const JoinResult result = joined(join({.id = "somebody"}));
    EXPECT_EQ(result.error, ErrorCode::unknown_member_id);
    EXPECT_EQ(result.member_id, "somebody");
    EXPECT_EQ(coordinator_->group_count(), 0U);
}

TEST_F(Join, DynamicMemberWithoutIdIsGivenOneFirst) {
    const JoinResult result = joined(join({.client = "app"}));
    EXPECT_EQ(result.error, ErrorCode::member_id_required);
    EXPECT_EQ(result.member_id, "app-uuid1");
    EXPECT_EQ(result.generation.value, -1);
    EXPECT_EQ(result.protocol_name, std::nullopt);
    EXPECT_EQ(state(), GroupState::empty);
}

TEST_F(Join, BeforeVersion4NoIdIsNeeded) {
    const ReplyToken token = join({.version = 3});
    advance_ms(3'000);
    EXPECT_EQ(joined(token).error, ErrorCode::none);
}

TEST_F(Join, StaticMemberNeedsNoIdAndIsNamedAfterItsInstance) {
    const ReplyToken token = join({.instance = "box"});
    advance_ms(3'000);
    EXPECT_EQ(joined(token).member_id, "box-uuid1");
}

TEST_F(Join, NewGroupIsWrittenDownAtOnce) {
    EXPECT_EQ(joined(join({})).error, ErrorCode::member_id_required);
    const auto& record = last_record<GroupMetadataRecord>();
    EXPECT_EQ(record.group_id, "g");
    EXPECT_EQ(record.protocol_type, "");
    EXPECT_EQ(record.protocol, std::nullopt);
    EXPECT_EQ(record.generation.value, 0);
    EXPECT_TRUE(record.members.empty());
    EXPECT_EQ(record.current_state_timestamp, now_.wall);
}

TEST_F(Join, FirstJoinerOfAnEmptyGroupWaitsForTheInitialDelay) {
    const ReplyToken token = join({.id = fresh_id()});
    advance_ms(2'999);
    EXPECT_TRUE(is_waiting(token));
    advance_ms(1);
    const JoinResult result = joined(token);
    EXPECT_EQ(result.error, ErrorCode::none);
    EXPECT_EQ(result.generation.value, 1);
    EXPECT_EQ(result.protocol_name, "range");
    EXPECT_EQ(result.protocol_type, "consumer");
    EXPECT_EQ(result.leader, result.member_id);
    ASSERT_EQ(result.members.size(), 1U);
    EXPECT_EQ(text_of(result.members[0].metadata), subscription_to({"topic"}));
    EXPECT_EQ(state(), GroupState::completing_rebalance);
}

TEST_F(Join, LateComersExtendTheInitialDelay) {
    const ReplyToken first = join({.id = fresh_id()});
    advance_ms(2'000);
    const ReplyToken second = join({.id = fresh_id()});
    advance_ms(1'000);  // 3 s: extended by the second
    EXPECT_TRUE(is_waiting(first));
    advance_ms(2'999);
    EXPECT_TRUE(is_waiting(second));
    advance_ms(1);
    EXPECT_EQ(joined(first).members.size(), 2U);
    EXPECT_TRUE(joined(second).members.empty());
}

TEST_F(Join, ExtensionEndsWithTheLongestRebalanceTimeout) {
    const ReplyToken first = join({.id = fresh_id(), .rebalance_ms = 7'000});
    for (int second = 1; second <= 6; ++second) {
        advance_ms(1'000);
        join({.id = fresh_id(), .rebalance_ms = 1'000});
    }
    EXPECT_TRUE(is_waiting(first));
    advance_ms(1'000);
    EXPECT_EQ(joined(first).error, ErrorCode::none);
}

struct NoInitialDelay : GroupFixture {
    NoInitialDelay() : GroupFixture(group_config_with(&GroupConfig::initial_rebalance_delay_ms, 0)) {}
};

TEST_F(NoInitialDelay, OneAloneIsAnsweredAMomentLater) {
    const ReplyToken alone = join({.id = fresh_id()});
    advance_ms(kShortestInitialDelayMs - 1);
    EXPECT_TRUE(is_waiting(alone));
    advance_ms(1);
    EXPECT_EQ(joined(alone).generation.value, 1);
}

TEST_F(NoInitialDelay, TwoThatStartTogetherShareTheFirstGeneration) {
    const ReplyToken first = join({.id = fresh_id()});
    advance_ms(kShortestInitialDelayMs - 1);
    const ReplyToken second = join({.id = fresh_id()});
    advance_ms(kShortestInitialDelayMs);
    EXPECT_TRUE(is_waiting(first)) << "whoever came may not be the last";
    advance_ms(1);
    EXPECT_EQ(joined(first).generation.value, 1);
    EXPECT_EQ(joined(second).generation.value, 1);
}

TEST_F(NoInitialDelay, WhoWasGivenAnIdMeanwhileIsWaitedForToALimit) {
    const ReplyToken first = join({.id = fresh_id()});
    const std::string id = fresh_id();
    advance_ms(3 * kShortestInitialDelayMs);
    const ReplyToken second = join({.id = id});
    fresh_id();  // The member with this id never comes.
    advance_ms(kUnaskedInitialDelayMaxMs - 3 * kShortestInitialDelayMs - 1);
    EXPECT_TRUE(is_waiting(first));
    advance_ms(1);
    EXPECT_EQ(joined(first).generation.value, 1);
    EXPECT_EQ(joined(second).generation.value, 1);
}

TEST_F(NoInitialDelay, StreamOfMembersDelaysTheFirstGenerationToALimit) {
    const ReplyToken first = join({.id = fresh_id()});
    std::int32_t waited_ms = 0;
    for (; is_waiting(first); ++waited_ms) {
        ASSERT_LE(waited_ms, kUnaskedInitialDelayMaxMs);
        join({.id = fresh_id()});
        advance_ms(1);
    }
    EXPECT_EQ(waited_ms, kUnaskedInitialDelayMaxMs);
    EXPECT_EQ(joined(first).members.size(), 1U + static_cast<std::size_t>(kUnaskedInitialDelayMaxMs));
}

TEST_F(NoInitialDelay, LaterRebalancesAreOverWithTheLastJoin) {
    const ReplyToken first = join({.id = fresh_id()});
    advance_ms(kShortestInitialDelayMs);
    const std::string leader = joined(first).member_id;
    const ReplyToken second = join({.id = fresh_id()});
    EXPECT_EQ(joined(join({.id = leader})).generation.value, 2);
    EXPECT_EQ(joined(second).generation.value, 2);
}

TEST_F(Join, OnlyTheLeaderGetsTheMembersInOrderOfJoining) {
    const ReplyToken first = join({.id = fresh_id({.client = "a"}), .client = "a"});
    const ReplyToken second = join({.instance = "i", .client = "b"});
    advance_ms(6'000);
    const JoinResult leader = joined(first);
    const JoinResult follower = joined(second);
    ASSERT_EQ(leader.members.size(), 2U);
    EXPECT_EQ(leader.members[0].member_id, leader.member_id);
    EXPECT_EQ(leader.members[0].group_instance_id, std::nullopt);
    EXPECT_EQ(leader.members[1].member_id, follower.member_id);
    EXPECT_EQ(leader.members[1].group_instance_id, "i");
    EXPECT_EQ(follower.leader, leader.member_id);
    EXPECT_TRUE(follower.members.empty());
    EXPECT_FALSE(leader.skip_assignment);
}

TEST_F(Join, ProtocolWithMostFirstChoicesAmongTheCommonOnesWins) {
    const auto meta = subscription_to({"t"});
    const ReplyToken first = join({.id = fresh_id(), .protocols = {{"only-mine", meta}, {"range", meta}, {"sticky", meta}}});
    const ReplyToken second = join({.id = fresh_id(), .protocols = {{"sticky", meta}, {"range", meta}}});
    const ReplyToken third = join({.id = fresh_id(), .protocols = {{"sticky", meta}, {"range", meta}}});
    advance_ms(6'000);
    EXPECT_EQ(joined(first).protocol_name, "sticky");
    EXPECT_EQ(joined(second).protocol_name, "sticky");
    EXPECT_EQ(joined(third).protocol_name, "sticky");
}

TEST_F(Join, TiesGoToTheChoiceOfTheEarliestMember) {
    const ReplyToken first = join({.protocols = {{"a", "1"}, {"b", "1"}}, .version = 3});
    join({.protocols = {{"b", "1"}, {"a", "1"}}, .version = 3});
    advance_ms(6'000);
    EXPECT_EQ(joined(first).protocol_name, "a");
}

TEST_F(Join, MemberWithoutACommonProtocolIsInconsistent) {
    stable_group(1);
    EXPECT_EQ(joined(join({.protocols = {{"sticky", "x"}}})).error, ErrorCode::inconsistent_group_protocol);
    EXPECT_EQ(joined(join({.type = "connect"})).error, ErrorCode::inconsistent_group_protocol);
    EXPECT_EQ(joined(join({.protocols = {}})).error, ErrorCode::inconsistent_group_protocol);
}

TEST_F(Join, FirstMemberNeedsTypeAndProtocols) {
    EXPECT_EQ(joined(join({.type = ""})).error, ErrorCode::inconsistent_group_protocol);
    EXPECT_EQ(joined(join({.protocols = {}})).error, ErrorCode::inconsistent_group_protocol);
}

TEST_F(Join, UndecodableMetadataIsCarriedAndAnswered) {
    // The subscription announces two billion topics: Kafka leaves such a join without any answer.
    const std::string nonsense("\0\0\x7f\xff\xff\xff", 6);
    const ReplyToken token = join({.id = fresh_id(), .protocols = {{"range", nonsense}}});
    advance_ms(3'000);
    const JoinResult result = joined(token);
    EXPECT_EQ(result.error, ErrorCode::none);
    EXPECT_EQ(text_of(result.members.at(0).metadata), nonsense);
}

TEST_F(Join, PendingMemberIsForgottenAfterItsSessionTimeout) {
    const std::string id = fresh_id({.session_ms = 6'000});
    advance_ms(6'000);
    EXPECT_EQ(joined(join({.id = id})).error, ErrorCode::unknown_member_id);
}

TEST_F(Join, RebalanceWaitsForPendingMembers) {
    const auto ids = stable_group(1);
    const std::string pending = fresh_id();
    const ReplyToken leader = join({.id = ids[0]});
    EXPECT_TRUE(is_waiting(leader));
    const ReplyToken other = join({.id = pending});
    EXPECT_EQ(joined(leader).generation.value, 2);
    EXPECT_EQ(joined(other).generation.value, 2);
}

TEST_F(Join, RebalanceGoesOnWhenThePendingMemberExpires) {
    const auto ids = stable_group(1);
    fresh_id({.session_ms = 6'000});
    const ReplyToken leader = join({.id = ids[0]});
    advance_ms(5'999);
    EXPECT_TRUE(is_waiting(leader));
    advance_ms(1);
    EXPECT_EQ(joined(leader).generation.value, 2);
}

TEST_F(Join, PendingIdWithAnInstanceIdIsAnError) {
    EXPECT_EQ(joined(join({.id = fresh_id(), .instance = "i"})).error, ErrorCode::unknown_server_error);
}

TEST_F(Join, OutstandingIdsAreLimited) {
    const ReplyToken first = join({.instance = "keeps-group"});
    std::size_t given = 0;
    JoinResult result;
    do {
        result = joined(join({}));
        given += result.error == ErrorCode::member_id_required ? 1 : 0;
    } while (result.error == ErrorCode::member_id_required && given < 100'000);
    EXPECT_EQ(result.error, ErrorCode::group_max_size_reached);
    EXPECT_EQ(given, 65'536U);
    EXPECT_TRUE(is_waiting(first));
}

TEST_F(Join, MemberIdsThatNoRecordCouldHoldAreRefused) {
    EXPECT_EQ(joined(join({.client = std::string(32'765, 'x')})).error, ErrorCode::invalid_request);
    EXPECT_EQ(joined(join({.client = std::string(32'700, 'x')})).error, ErrorCode::member_id_required);
}

TEST_F(Join, MemberNamesALimitedNumberOfProtocols) {
    Joining joining;
    joining.protocols.clear();
    for (int number = 0; number < 128; ++number) {
        joining.protocols.emplace_back("p" + std::to_string(number), "");
    }
    EXPECT_EQ(joined(join(joining)).error, ErrorCode::member_id_required);
    joining.protocols.emplace_back("one-more", "");
    EXPECT_EQ(joined(join(joining)).error, ErrorCode::invalid_request);
}

TEST_F(Join, ProtocolNamedTwiceCountsOnce) {
    const ReplyToken token = join({.protocols = {{"a", "first"}, {"a", "second"}}, .version = 3});
    advance_ms(3'000);
    EXPECT_EQ(text_of(joined(token).members.at(0).metadata), "first");
}

TEST_F(Join, UnchangedFollowerGetsTheCurrentGeneration) {
    const auto ids = stable_group(2);
    const JoinResult result = joined(join({.id = ids[1]}));
    EXPECT_EQ(result.generation.value, 1);
    EXPECT_EQ(result.leader, ids[0]);
    EXPECT_TRUE(result.members.empty());
    EXPECT_EQ(state(), GroupState::stable);
}

TEST_F(Join, UnchangedLeaderOfAStableGroupForcesARebalance) {
    const auto ids = stable_group(2);
    const ReplyToken leader = join({.id = ids[0]});
    EXPECT_TRUE(is_waiting(leader));
    EXPECT_EQ(state(), GroupState::preparing_rebalance);
    const ReplyToken follower = join({.id = ids[1]});
    EXPECT_EQ(joined(leader).generation.value, 2);
    EXPECT_EQ(joined(follower).generation.value, 2);
}

TEST_F(Join, ChangedFollowerForcesARebalance) {
    const auto ids = stable_group(2);
    EXPECT_TRUE(is_waiting(join({.id = ids[1], .protocols = {{"range", subscription_to({"other"})}}})));
    EXPECT_EQ(state(), GroupState::preparing_rebalance);
}

TEST_F(Join, UnchangedMemberGetsTheSameAnswerAgainWhileAssignmentIsAwaited) {
    const ReplyToken first = join({.id = fresh_id()});
    advance_ms(3'000);
    const std::string id = joined(first).member_id;
    const JoinResult again = joined(join({.id = id}));
    EXPECT_EQ(again.generation.value, 1);
    EXPECT_EQ(again.members.size(), 1U);
    EXPECT_EQ(state(), GroupState::completing_rebalance);
}

TEST_F(Join, ChangedMemberRestartsARebalanceThatAwaitsTheAssignment) {
    const ReplyToken first = join({.id = fresh_id()});
    const ReplyToken second = join({.id = fresh_id()});
    advance_ms(6'000);
    const std::string leader = joined(first).member_id;
    const std::string follower = joined(second).member_id;
    const ReplyToken waiting_sync = sync(follower, 1);
    EXPECT_TRUE(is_waiting(waiting_sync));
    join({.id = leader, .protocols = {{"range", subscription_to({"other"})}}});
    EXPECT_EQ(synced(waiting_sync).error, ErrorCode::rebalance_in_progress);
    EXPECT_EQ(state(), GroupState::preparing_rebalance);
}

TEST_F(Join, SecondJoinOfAMemberReplacesTheFirst) {
    const auto ids = stable_group(2);
    const ReplyToken first = join({.id = ids[0]});
    const ReplyToken second = join({.id = ids[0]});
    EXPECT_EQ(joined(first).error, ErrorCode::rebalance_in_progress);
    join({.id = ids[1]});
    EXPECT_EQ(joined(second).generation.value, 2);
}

TEST_F(Join, DynamicMembersThatDoNotRejoinAreDropped) {
    const auto ids = stable_group(3);
    const ReplyToken leader = join({.id = ids[0]});
    // The others go on with heartbeats only.
    for (int second = 0; second < 59; ++second) {
        advance_ms(1'000);
        EXPECT_EQ(heartbeat(ids[1], 1), ErrorCode::rebalance_in_progress);
        EXPECT_EQ(heartbeat(ids[2], 1), ErrorCode::rebalance_in_progress);
    }
    EXPECT_TRUE(is_waiting(leader));
    advance_ms(1'000);
    const JoinResult result = joined(leader);
    EXPECT_EQ(result.generation.value, 2);
    EXPECT_EQ(result.members.size(), 1U);
    EXPECT_EQ(heartbeat(ids[1], 1), ErrorCode::unknown_member_id);
}

TEST_F(Join, LeadershipMovesWhenTheLeaderDoesNotRejoin) {
    const auto ids = stable_group(2);
    const ReplyToken follower = join({.id = ids[1], .protocols = {{"range", subscription_to({"more"})}}});
    advance_ms(10'000);  // the session of the leader
    const JoinResult result = joined(follower);
    EXPECT_EQ(result.leader, ids[1]);
    EXPECT_EQ(result.members.size(), 1U);
}

TEST_F(Join, NewMemberWhoseClientIsGoneIsDroppedAfterFiveMinutes) {
    const auto ids = stable_group(1, {.session_ms = 1'800'000, .rebalance_ms = 1'000'000});
    const ReplyToken newcomer = join({.id = fresh_id({.rebalance_ms = 1'000'000}), .rebalance_ms = 1'000'000});
    advance_ms(299'999);
    EXPECT_TRUE(is_waiting(newcomer));
    advance_ms(1);
    const JoinResult result = joined(newcomer);
    EXPECT_EQ(result.error, ErrorCode::unknown_member_id);
    EXPECT_EQ(result.member_id, "");
}

class SmallGroups : public GroupFixture {
  protected:
    SmallGroups() : GroupFixture(group_config_with(&GroupConfig::max_size, 2)) {}
};

TEST_F(SmallGroups, StableGroupTakesNoMoreThanItsMaximum) {
    const auto ids = stable_group(2);
    const JoinResult refused = joined(join({}));
    EXPECT_EQ(refused.error, ErrorCode::group_max_size_reached);
    EXPECT_EQ(refused.member_id, "");
    EXPECT_EQ(joined(join({.id = ids[1]})).error, ErrorCode::none);
}

TEST_F(SmallGroups, RebalanceTakesTheFirstWhoCome) {
    const ReplyToken first = join({.id = fresh_id()});
    const std::string second_id = fresh_id();
    const std::string third_id = fresh_id();
    const ReplyToken second = join({.id = second_id});
    EXPECT_EQ(joined(join({.id = third_id})).error, ErrorCode::group_max_size_reached);
    advance_ms(6'000);
    EXPECT_EQ(joined(first).members.size(), 2U);
    EXPECT_EQ(joined(second).error, ErrorCode::none);
}

TEST_F(SmallGroups, GroupThatIsTooLargeAfterLoadingRebalances) {
    const auto ids = stable_group(2);
    config_.max_size = 1;
    crash_and_restart();
    EXPECT_EQ(state(), GroupState::preparing_rebalance);
    const ReplyToken first = join({.id = ids[1]});
    EXPECT_EQ(joined(join({.id = ids[0]})).error, ErrorCode::group_max_size_reached);
    EXPECT_EQ(joined(first).members.size(), 1U);
}

}  // namespace
}  // namespace partita::groups::testing
