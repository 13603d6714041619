#include "broker/groups/group_queries.h"
#include "broker/insight/history/group_history.h"
#include "tests/unit/groups/group_fixture.h"

namespace partita::groups::testing {
namespace {

/// KIP-345.
class StaticMember : public GroupFixture {
  protected:
    struct Pair {
        std::string leader;    ///< instance "one"
        std::string follower;  ///< instance "two"
    };
    Pair stable_pair() {
        const ReplyToken first = join({.instance = "one"});
        const ReplyToken second = join({.instance = "two"});
        advance_ms(6'000);
        const Pair ids{joined(first).member_id, joined(second).member_id};
        sync_all({ids.leader, ids.follower}, 1);
        return ids;
    }
};

TEST_F(StaticMember, RestartedFollowerKeepsTheGenerationUnderANewId) {
    const Pair ids = stable_pair();
    const std::size_t written = group_records();
    const JoinResult result = joined(join({.instance = "two"}));
    EXPECT_EQ(result.error, ErrorCode::none);
    EXPECT_EQ(result.generation.value, 1);
    EXPECT_NE(result.member_id, ids.follower);
    EXPECT_EQ(result.leader, ids.leader);
    EXPECT_FALSE(result.skip_assignment);
    EXPECT_EQ(state(), GroupState::stable);
    EXPECT_EQ(group_records(), written + 1);
    EXPECT_EQ(text_of(synced(sync(result.member_id, 1, {}, "two")).assignment), "for " + ids.follower);
}

TEST_F(StaticMember, RestartedOneIsInTheHistoryByTheNameThatItsProcessHas) {
    const Pair ids = stable_pair();
    const JoinResult result = joined(join({.instance = "two", .client = "another-process"}));
    ASSERT_EQ(result.error, ErrorCode::none);
    const std::optional<insight::GroupHistory> history = coordinator_->queries().history_of("g");
    ASSERT_TRUE(history.has_value());
    std::map<std::string, std::string> clients;
    for (const insight::GroupHistory::KnownMember& member : history->members()) {
        clients[member.member_id] = member.client_id;
    }
    EXPECT_EQ(clients[ids.follower], "client");
    EXPECT_EQ(clients[result.member_id], "another-process");
}

TEST_F(StaticMember, RestartedLeaderIsToldToSkipTheAssignment) {
    const Pair ids = stable_pair();
    const JoinResult result = joined(join({.instance = "one"}));
    EXPECT_TRUE(result.skip_assignment);
    EXPECT_EQ(result.leader, result.member_id);
    EXPECT_EQ(result.members.size(), 2U);
    EXPECT_EQ(text_of(synced(sync(result.member_id, 1, {}, "one")).assignment), "for " + ids.leader);
}

TEST_F(StaticMember, RestartedLeaderBeforeVersion9IsToldOfItsFormerSelf) {
    const Pair ids = stable_pair();
    const JoinResult result = joined(join({.instance = "one", .version = 8}));
    EXPECT_FALSE(result.skip_assignment);
    EXPECT_EQ(result.leader, ids.leader);
    EXPECT_NE(result.member_id, ids.leader);
    EXPECT_TRUE(result.members.empty());
}

TEST_F(StaticMember, FormerIdIsFencedEverywhere) {
    const Pair ids = stable_pair();
    EXPECT_EQ(joined(join({.instance = "two"})).error, ErrorCode::none);
    EXPECT_EQ(heartbeat(ids.follower, 1, "two"), ErrorCode::fenced_instance_id);
    EXPECT_EQ(joined(join({.id = ids.follower, .instance = "two"})).error, ErrorCode::fenced_instance_id);
    EXPECT_EQ(synced(sync(ids.follower, 1, {}, "two")).error, ErrorCode::fenced_instance_id);
    EXPECT_EQ(commit({.member = ids.follower, .generation = 1, .instance = "two"}).error, ErrorCode::fenced_instance_id);
    EXPECT_EQ(leave({{ids.follower, "two"}}).members.at(0).error, ErrorCode::fenced_instance_id);
    // Without the instance id, the former member id is just unknown.
    EXPECT_EQ(heartbeat(ids.follower, 1), ErrorCode::unknown_member_id);
}

TEST_F(StaticMember, UnknownInstanceIdIsAnUnknownMember) {
    const Pair ids = stable_pair();
    EXPECT_EQ(heartbeat(ids.follower, 1, "three"), ErrorCode::unknown_member_id);
}

TEST_F(StaticMember, WaitingJoinOfAReplacedMemberIsFenced) {
    const Pair ids = stable_pair();
    const ReplyToken old_join = join({.id = ids.leader, .instance = "one"});
    EXPECT_TRUE(is_waiting(old_join));
    const ReplyToken new_join = join({.instance = "one"});
    const JoinResult fenced = joined(old_join);
    EXPECT_EQ(fenced.error, ErrorCode::fenced_instance_id);
    EXPECT_EQ(fenced.member_id, ids.leader);
    EXPECT_TRUE(is_waiting(new_join));
    join({.id = ids.follower, .instance = "two"});
    EXPECT_EQ(joined(new_join).generation.value, 2);
}

TEST_F(StaticMember, WaitingSyncOfAReplacedMemberIsFencedAndTheGroupRebalances) {
    const ReplyToken first = join({.instance = "one"});
    const ReplyToken second = join({.instance = "two"});
    advance_ms(6'000);
    joined(first);
    const std::string follower = joined(second).member_id;
    const ReplyToken old_sync = sync(follower, 1, {}, "two");
    const ReplyToken new_join = join({.instance = "two"});
    EXPECT_EQ(synced(old_sync).error, ErrorCode::fenced_instance_id);
    EXPECT_TRUE(is_waiting(new_join));
    EXPECT_EQ(state(), GroupState::preparing_rebalance);
}

TEST_F(StaticMember, RestartWithAnotherProtocolChoiceRebalances) {
    const auto meta = subscription_to({"topic"});
    const ReplyToken first = join({.instance = "one", .protocols = {{"range", meta}, {"sticky", meta}}});
    advance_ms(3'000);
    sync_all({joined(first).member_id}, 1);
    const ReplyToken again = join({.instance = "one", .protocols = {{"sticky", meta}, {"range", meta}}});
    const JoinResult result = joined(again);  // alone, so the rebalance completes at once
    EXPECT_EQ(result.generation.value, 2);
    EXPECT_EQ(result.protocol_name, "sticky");
}

TEST_F(StaticMember, StaysInTheGroupWhenItDoesNotRejoinInTime) {
    const ReplyToken first = join({.instance = "one", .session_ms = 600'000, .rebalance_ms = 5'000});
    const ReplyToken second = join({.instance = "two", .session_ms = 600'000, .rebalance_ms = 5'000});
    advance_ms(6'000);
    const std::string leader = joined(first).member_id;
    const std::string follower = joined(second).member_id;
    sync_all({leader, follower}, 1);
    const ReplyToken again = join(
        {.id = follower, .instance = "two", .protocols = {{"range", "changed"}}, .session_ms = 600'000, .rebalance_ms = 5'000});
    advance_ms(5'000);
    const JoinResult result = joined(again);
    EXPECT_EQ(result.generation.value, 2);
    EXPECT_EQ(result.leader, follower);    // the leader was not there
    EXPECT_EQ(result.members.size(), 2U);  // but is still a member
    EXPECT_EQ(heartbeat(leader, 1, "one"), ErrorCode::illegal_generation);
}

TEST_F(StaticMember, RebalanceThatNobodyRejoinedIsRetriedUntilSessionsEnd) {
    const Pair ids = stable_pair();
    EXPECT_EQ(leave({{"", "one"}}).members.at(0).error, ErrorCode::none);
    EXPECT_EQ(state(), GroupState::preparing_rebalance);
    for (int round = 0; round < 30; ++round) {
        advance_ms(4'000);
        EXPECT_EQ(heartbeat(ids.follower, 1, "two"), ErrorCode::rebalance_in_progress);
    }
    const ReplyToken rejoin = join({.id = ids.follower, .instance = "two"});
    EXPECT_EQ(joined(rejoin).generation.value, 2);
}

TEST_F(StaticMember, SilentGroupEndsEmpty) {
    stable_pair();
    leave({{"", "one"}});
    advance_ms(10'000);
    EXPECT_EQ(state(), GroupState::empty);
    EXPECT_EQ(last_record<GroupMetadataRecord>().generation.value, 2);
}

TEST_F(StaticMember, RebalanceTimeoutOfZeroDoesNotSpin) {
    const ReplyToken first = join({.instance = "one", .rebalance_ms = 0});
    const ReplyToken second = join({.instance = "two", .rebalance_ms = 0});
    advance_ms(3'000);
    sync_all({joined(first).member_id, joined(second).member_id}, 1);
    leave({{"", "one"}});
    advance_ms(10);
    EXPECT_EQ(state(), GroupState::preparing_rebalance);
    EXPECT_GE(*coordinator_->next_deadline() - now_.monotonic, 80);
    advance_ms(20'000);
    EXPECT_EQ(state(), GroupState::empty);
}

TEST_F(StaticMember, SessionEndRemovesIt) {
    const Pair ids = stable_pair();
    advance_ms(9'000);
    EXPECT_EQ(heartbeat(ids.leader, 1, "one"), ErrorCode::none);
    advance_ms(1'000);
    EXPECT_EQ(heartbeat(ids.leader, 1, "one"), ErrorCode::rebalance_in_progress);
    EXPECT_EQ(describe("g").members.size(), 1U);
}

TEST_F(StaticMember, AdministratorRemovesItByInstanceId) {
    const Pair ids = stable_pair();
    const LeaveResult result = leave({{"", "two"}, {"", "nobody"}, {"", std::nullopt}});
    EXPECT_EQ(result.error, ErrorCode::none);
    EXPECT_EQ(result.members.at(0).error, ErrorCode::none);
    EXPECT_EQ(result.members.at(0).group_instance_id, "two");
    EXPECT_EQ(result.members.at(1).error, ErrorCode::unknown_member_id);
    EXPECT_EQ(result.members.at(2).error, ErrorCode::unknown_member_id);
    EXPECT_EQ(heartbeat(ids.leader, 1, "one"), ErrorCode::rebalance_in_progress);
}

TEST_F(StaticMember, ReplacedMemberStillOwesItsSync) {
    const ReplyToken first = join({.instance = "one", .session_ms = 600'000});
    const ReplyToken second = join({.instance = "two", .session_ms = 600'000});
    advance_ms(6'000);
    const std::string leader = joined(first).member_id;
    const std::string follower = joined(second).member_id;
    // The follower restarts before it fetched its assignment.
    EXPECT_EQ(synced(sync(leader, 1, {{follower, "f"}})).error, ErrorCode::none);
    const std::string renewed = joined(join({.instance = "two", .session_ms = 600'000})).member_id;
    EXPECT_EQ(text_of(synced(sync(renewed, 1, {}, "two")).assignment), "f");
    advance_ms(120'000);
    EXPECT_EQ(state(), GroupState::stable);
}

}  // namespace
}  // namespace partita::groups::testing
