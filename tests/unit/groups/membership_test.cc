#include "tests/unit/groups/group_fixture.h"

namespace partita::groups::testing {
namespace {

class Sync : public GroupFixture {
  protected:
    /// A group in CompletingRebalance, generation 1; the first is the leader.
    std::vector<std::string> joined_group(std::size_t count, Joining joining = {}) {
        std::vector<std::string> ids;
        std::vector<ReplyToken> tokens;
        for (std::size_t index = 0; index < count; ++index) {
            joining.id = fresh_id(joining);
            ids.push_back(joining.id);
            tokens.push_back(join(joining));
        }
        advance_ms(6'000);
        for (const ReplyToken token : tokens) {
            EXPECT_EQ(joined(token).error, ErrorCode::none);
        }
        return ids;
    }
};

TEST_F(Sync, FollowersWaitForTheLeadersAssignment) {
    const auto ids = joined_group(3);
    const ReplyToken one = sync(ids[1], 1);
    EXPECT_TRUE(is_waiting(one));
    const ReplyToken leader = sync(ids[0], 1, {{ids[0], "L"}, {ids[1], "F"}});
    const SyncResult result = synced(one);
    EXPECT_EQ(text_of(result.assignment), "F");
    EXPECT_EQ(result.protocol_name, "range");
    EXPECT_EQ(result.protocol_type, "consumer");
    EXPECT_EQ(text_of(synced(leader).assignment), "L");
    // A member that the leader forgot gets nothing, without an error.
    const SyncResult forgotten = synced(sync(ids[2], 1));
    EXPECT_EQ(forgotten.error, ErrorCode::none);
    EXPECT_TRUE(forgotten.assignment.empty());
}

TEST_F(Sync, AssignmentIsWrittenBeforeAnybodyHearsOfIt) {
    const auto ids = joined_group(2);
    const ReplyToken follower = sync(ids[1], 1);
    // The shell sends replies after the records of the same effects, so one call must return both.
    const std::size_t before = log_.size();
    sync(ids[0], 1, {{ids[0], "L"}, {ids[1], "F"}});
    EXPECT_EQ(log_.size(), before + 1);
    EXPECT_FALSE(is_waiting(follower));
    const auto& record = last_record<GroupMetadataRecord>();
    EXPECT_EQ(record.protocol_type, "consumer");
    EXPECT_EQ(record.protocol, "range");
    EXPECT_EQ(record.leader, ids[0]);
    EXPECT_EQ(record.generation.value, 1);
    ASSERT_EQ(record.members.size(), 2U);
    EXPECT_EQ(record.members[1].member_id, ids[1]);
    EXPECT_EQ(record.members[1].client_id, "client");
    EXPECT_EQ(record.members[1].client_host, "/127.0.0.1");
    EXPECT_EQ(record.members[1].session_timeout_ms, 10'000);
    EXPECT_EQ(record.members[1].rebalance_timeout_ms, 60'000);
    EXPECT_EQ(as_text(record.members[1].subscription), subscription_to({"topic"}));
    EXPECT_EQ(as_text(record.members[1].assignment), "F");
}

TEST_F(Sync, RefusalsNameTheirReason) {
    const auto ids = joined_group(1);
    EXPECT_EQ(synced(sync("nobody", 1)).error, ErrorCode::unknown_member_id);
    EXPECT_EQ(synced(sync(ids[0], 0)).error, ErrorCode::illegal_generation);
    sync_protocol_type_ = "connect";
    EXPECT_EQ(synced(sync(ids[0], 1)).error, ErrorCode::inconsistent_group_protocol);
    sync_protocol_type_ = "consumer";
    sync_protocol_name_ = "sticky";
    EXPECT_EQ(synced(sync(ids[0], 1)).error, ErrorCode::inconsistent_group_protocol);
    sync_protocol_name_ = "range";
    EXPECT_EQ(synced(sync(ids[0], 1)).error, ErrorCode::none);
}

TEST_F(Sync, UnknownAndEmptyGroupsHaveNoMembers) {
    EXPECT_EQ(synced(sync("m", 1)).error, ErrorCode::unknown_member_id);
    fresh_id();
    EXPECT_EQ(synced(sync("m", 0)).error, ErrorCode::unknown_member_id);
}

TEST_F(Sync, DuringARebalanceItSaysSo) {
    const auto ids = stable_group(2);
    join({.id = ids[0]});
    EXPECT_EQ(synced(sync(ids[1], 1)).error, ErrorCode::rebalance_in_progress);
}

TEST_F(Sync, StableGroupRepeatsTheAssignment) {
    const auto ids = stable_group(2);
    EXPECT_EQ(text_of(synced(sync(ids[1], 1)).assignment), "for " + ids[1]);
}

TEST_F(Sync, NewcomerInterruptsWaitingSyncs) {
    const auto ids = joined_group(2);
    const ReplyToken waiting = sync(ids[1], 1);
    join({.id = fresh_id()});
    EXPECT_EQ(synced(waiting).error, ErrorCode::rebalance_in_progress);
    EXPECT_EQ(state(), GroupState::preparing_rebalance);
}

TEST_F(Sync, WhoDoesNotSyncInTimeIsDropped) {
    const auto ids = joined_group(2, {.session_ms = 600'000, .rebalance_ms = 30'000});
    EXPECT_EQ(synced(sync(ids[0], 1, {{ids[0], "L"}})).error, ErrorCode::none);
    advance_ms(29'999);
    EXPECT_EQ(heartbeat(ids[1], 1), ErrorCode::none);
    advance_ms(1);
    EXPECT_EQ(heartbeat(ids[1], 1), ErrorCode::unknown_member_id);
    EXPECT_EQ(heartbeat(ids[0], 1), ErrorCode::rebalance_in_progress);
}

TEST_F(Sync, SilentLeaderIsDroppedAndFollowersRejoin) {
    const auto ids = joined_group(2, {.session_ms = 600'000, .rebalance_ms = 30'000});
    const ReplyToken follower = sync(ids[1], 1);
    advance_ms(30'000);
    EXPECT_EQ(synced(follower).error, ErrorCode::rebalance_in_progress);
    EXPECT_EQ(joined(join({.id = ids[1]})).leader, ids[1]);
}

TEST_F(Sync, OnceAllSyncedNobodyIsDropped) {
    const auto ids = stable_group(2, {.session_ms = 600'000, .rebalance_ms = 30'000});
    advance_ms(60'000);
    EXPECT_EQ(heartbeat(ids[0], 1), ErrorCode::none);
    EXPECT_EQ(heartbeat(ids[1], 1), ErrorCode::none);
}

TEST_F(Sync, SecondSyncOfAMemberReplacesTheFirst) {
    const auto ids = joined_group(2);
    const ReplyToken first = sync(ids[1], 1);
    const ReplyToken second = sync(ids[1], 1);
    EXPECT_EQ(synced(first).error, ErrorCode::rebalance_in_progress);
    EXPECT_TRUE(is_waiting(second));
}

TEST_F(Sync, MemberRemovedWhileWaitingIsAnswered) {
    const auto ids = joined_group(2);
    const ReplyToken waiting = sync(ids[1], 1);
    EXPECT_EQ(leave(ids[1]), ErrorCode::none);
    EXPECT_EQ(synced(waiting).error, ErrorCode::unknown_member_id);
}

class HeartbeatAndLeave : public GroupFixture {};

TEST_F(HeartbeatAndLeave, ErrorsOfHeartbeats) {
    EXPECT_EQ(heartbeat("m", 1, {}, ""), ErrorCode::invalid_group_id);
    EXPECT_EQ(heartbeat("m", 1), ErrorCode::unknown_member_id);
    const auto ids = stable_group(2);
    EXPECT_EQ(heartbeat(ids[0], 1), ErrorCode::none);
    EXPECT_EQ(heartbeat("m", 1), ErrorCode::unknown_member_id);
    EXPECT_EQ(heartbeat(ids[0], 0), ErrorCode::illegal_generation);
    EXPECT_EQ(heartbeat(ids[0], 2), ErrorCode::illegal_generation);
    join({.id = ids[0]});
    EXPECT_EQ(heartbeat(ids[1], 1), ErrorCode::rebalance_in_progress);
}

TEST_F(HeartbeatAndLeave, CompletingRebalanceAcceptsHeartbeats) {
    const ReplyToken token = join({.id = fresh_id()});
    advance_ms(3'000);
    EXPECT_EQ(heartbeat(joined(token).member_id, 1), ErrorCode::none);
}

TEST_F(HeartbeatAndLeave, HeartbeatsKeepASessionAlive) {
    const auto ids = stable_group(1);
    for (int round = 0; round < 10; ++round) {
        advance_ms(9'999);
        EXPECT_EQ(heartbeat(ids[0], 1), ErrorCode::none);
    }
    advance_ms(10'000);
    EXPECT_EQ(heartbeat(ids[0], 1), ErrorCode::unknown_member_id);
    EXPECT_EQ(state(), GroupState::empty);
}

TEST_F(HeartbeatAndLeave, CommitsKeepASessionAlive) {
    const auto ids = stable_group(1);
    for (int round = 0; round < 5; ++round) {
        advance_ms(9'000);
        EXPECT_EQ(commit({.member = ids[0], .generation = 1}).error, ErrorCode::none);
    }
    EXPECT_EQ(heartbeat(ids[0], 1), ErrorCode::none);
}

TEST_F(HeartbeatAndLeave, LastMemberLeavesAnEmptyGroupInTheNextGeneration) {
    const auto ids = stable_group(1);
    EXPECT_EQ(leave(ids[0]), ErrorCode::none);
    EXPECT_EQ(state(), GroupState::empty);
    const auto& record = last_record<GroupMetadataRecord>();
    EXPECT_EQ(record.generation.value, 2);
    EXPECT_EQ(record.protocol_type, "consumer");
    EXPECT_EQ(record.protocol, std::nullopt);
    EXPECT_EQ(record.leader, std::nullopt);
    EXPECT_TRUE(record.members.empty());
}

TEST_F(HeartbeatAndLeave, LeavingTriggersARebalanceOfTheRest) {
    const auto ids = stable_group(2);
    EXPECT_EQ(leave(ids[0]), ErrorCode::none);
    EXPECT_EQ(heartbeat(ids[1], 1), ErrorCode::rebalance_in_progress);
    EXPECT_EQ(joined(join({.id = ids[1]})).generation.value, 2);
}

TEST_F(HeartbeatAndLeave, LeavingDuringARebalanceMayCompleteIt) {
    const auto ids = stable_group(2);
    const ReplyToken waiting = join({.id = ids[0]});
    EXPECT_EQ(leave(ids[1]), ErrorCode::none);
    EXPECT_EQ(joined(waiting).members.size(), 1U);
}

TEST_F(HeartbeatAndLeave, LeavingWhileJoiningAnswersTheJoin) {
    const auto ids = stable_group(2);
    const ReplyToken waiting = join({.id = ids[0]});
    EXPECT_EQ(leave(ids[0]), ErrorCode::none);
    EXPECT_EQ(joined(waiting).error, ErrorCode::unknown_member_id);
}

TEST_F(HeartbeatAndLeave, PendingMemberLeaves) {
    const std::string id = fresh_id();
    EXPECT_EQ(leave(id), ErrorCode::none);
    EXPECT_EQ(joined(join({.id = id})).error, ErrorCode::unknown_member_id);
}

TEST_F(HeartbeatAndLeave, ErrorsOfLeaving) {
    EXPECT_EQ(leave({{"m", std::nullopt}}, "").error, ErrorCode::invalid_group_id);
    EXPECT_EQ(leave("m"), ErrorCode::unknown_member_id);
    const auto ids = stable_group(1);
    EXPECT_EQ(leave("m"), ErrorCode::unknown_member_id);
    EXPECT_EQ(state(), GroupState::stable);
}

TEST_F(HeartbeatAndLeave, BatchAnswersEachMember) {
    const auto ids = stable_group(3);
    const LeaveResult result =
        leave({{ids[1], std::nullopt}, {"nobody", std::nullopt}, {ids[2], std::nullopt}, {ids[2], std::nullopt}});
    ASSERT_EQ(result.members.size(), 4U);
    EXPECT_EQ(result.members[0].error, ErrorCode::none);
    EXPECT_EQ(result.members[1].error, ErrorCode::unknown_member_id);
    EXPECT_EQ(result.members[1].member_id, "nobody");
    EXPECT_EQ(result.members[2].error, ErrorCode::none);
    EXPECT_EQ(result.members[3].error, ErrorCode::unknown_member_id);
    EXPECT_EQ(describe("g").members.size(), 1U);
}

TEST_F(HeartbeatAndLeave, LeavingDuringTheInitialDelayLeavesTheGroupEmptyAfterwards) {
    const std::string id = fresh_id();
    join({.id = id});
    EXPECT_EQ(leave(id), ErrorCode::none);
    EXPECT_EQ(state(), GroupState::preparing_rebalance);
    advance_ms(3'000);
    EXPECT_EQ(state(), GroupState::empty);
}

TEST_F(HeartbeatAndLeave, ShuttingDownAnswersEverybodyWhoWaits) {
    const auto ids = stable_group(2);
    const ReplyToken waiting_join = join({.id = ids[0]});
    run([&](Effects& effects) { coordinator_->fail_waiting(ErrorCode::not_coordinator, effects); }, {});
    EXPECT_EQ(joined(waiting_join).error, ErrorCode::not_coordinator);
}

TEST_F(HeartbeatAndLeave, FullCircleOfGenerations) {
    std::vector<std::string> ids = stable_group(2);
    for (std::int32_t generation = 2; generation < 12; ++generation) {
        const ReplyToken leader = join({.id = ids[0]});
        const ReplyToken follower = join({.id = ids[1]});
        EXPECT_EQ(joined(leader).generation.value, generation);
        EXPECT_EQ(joined(follower).generation.value, generation);
        sync_all(ids, generation);
    }
}

TEST_F(HeartbeatAndLeave, AThousandMembersRejoinTogether) {
    const auto ids = stable_group(1'000, {.session_ms = 600'000, .rebalance_ms = 600'000});
    std::vector<ReplyToken> joins;
    for (const std::string& id : ids) {
        joins.push_back(join({.id = id, .session_ms = 600'000, .rebalance_ms = 600'000}));
    }
    EXPECT_EQ(joined(joins[0]).members.size(), 1'000U);
    for (std::size_t index = 1; index < joins.size(); ++index) {
        EXPECT_EQ(joined(joins[index]).generation.value, 2);
    }
    sync_all(ids, 2);
}

}  // namespace
}  // namespace partita::groups::testing
