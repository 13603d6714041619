#include "broker/groups/consumer_protocol.h"
#include "broker/groups/timer_queue.h"
#include "tests/unit/groups/group_fixture.h"

namespace partita::groups::testing {
namespace {

class ListAndDescribe : public GroupFixture {
  protected:
    void one_of_each() {
        stable_group(1);
        commit({.group = "simple"});
        join({.group = "preparing", .instance = "i"});
    }
};

TEST_F(ListAndDescribe, ListsAllInOrder) {
    one_of_each();
    EXPECT_EQ(list(), (std::vector<std::string>{"g consumer Stable classic", "preparing consumer PreparingRebalance classic",
                                                "simple  Empty classic"}));
}

TEST_F(ListAndDescribe, FiltersIgnoreCase) {
    one_of_each();
    EXPECT_EQ(list({"stable", "EMPTY"}).size(), 2U);
    EXPECT_EQ(list({"preparingRebalance"}).size(), 1U);
    EXPECT_EQ(list({"Dead"}).size(), 0U);
    EXPECT_EQ(list({"nonsense"}).size(), 0U);
    EXPECT_EQ(list({}, {"CLASSIC"}).size(), 3U);
    EXPECT_EQ(list({}, {"Consumer", "Share"}).size(), 0U);
    EXPECT_EQ(list({"Stable"}, {"classic"}).size(), 1U);
}

TEST_F(ListAndDescribe, StableGroupShowsMetadataAndAssignments) {
    const auto ids = stable_group(2);
    const auto group = describe("g");
    EXPECT_EQ(group.error, ErrorCode::none);
    EXPECT_EQ(group.state, GroupState::stable);
    EXPECT_EQ(group.protocol_type, "consumer");
    EXPECT_EQ(group.protocol, "range");
    ASSERT_EQ(group.members.size(), 2U);
    EXPECT_EQ(group.members[1].member_id, ids[1]);
    EXPECT_EQ(group.members[1].client_id, "client");
    EXPECT_EQ(group.members[1].client_host, "/127.0.0.1");
    EXPECT_EQ(text_of(group.members[1].metadata), subscription_to({"topic"}));
    EXPECT_EQ(text_of(group.members[1].assignment), "for " + ids[1]);
}

TEST_F(ListAndDescribe, RebalancingGroupShowsMembersWithoutMetadata) {
    const auto ids = stable_group(2);
    join({.id = ids[0]});
    const auto group = describe("g");
    EXPECT_EQ(group.state, GroupState::preparing_rebalance);
    EXPECT_EQ(group.protocol, "");
    EXPECT_EQ(group.protocol_type, "consumer");
    ASSERT_EQ(group.members.size(), 2U);
    EXPECT_TRUE(group.members[0].metadata.empty());
}

TEST_F(ListAndDescribe, UnknownGroupIsDeadAndSinceVersion6AnError) {
    EXPECT_EQ(describe("nobody", 5).error, ErrorCode::none);
    EXPECT_EQ(describe("nobody", 5).state, GroupState::dead);
    EXPECT_EQ(describe("nobody", 5).error_message, std::nullopt);
    EXPECT_EQ(describe("nobody", 6).error, ErrorCode::group_id_not_found);
    EXPECT_EQ(describe("nobody", 6).error_message, "Group nobody not found.");
    EXPECT_EQ(describe("nobody", 6).state, GroupState::dead);
}

TEST_F(ListAndDescribe, DeletingGroups) {
    const auto ids = stable_group(1);
    commit({.member = ids[0], .generation = 1, .offsets = {{0, 1}, {1, 2}}});
    EXPECT_EQ(delete_group("g"), ErrorCode::non_empty_group);
    EXPECT_EQ(delete_group("nobody"), ErrorCode::group_id_not_found);
    leave(ids[0]);
    const std::size_t before = log_.size();
    EXPECT_EQ(delete_group("g"), ErrorCode::none);
    ASSERT_EQ(log_.size(), before + 3);
    EXPECT_TRUE(std::holds_alternative<OffsetTombstone>(log_[before]->view()));
    EXPECT_TRUE(std::holds_alternative<OffsetTombstone>(log_[before + 1]->view()));
    EXPECT_TRUE(std::holds_alternative<GroupTombstone>(log_[before + 2]->view()));
    EXPECT_EQ(delete_group("g"), ErrorCode::group_id_not_found);
    EXPECT_EQ(committed("topic", 0), -1);
}

class Replay : public GroupFixture {};

TEST_F(Replay, StableGroupLivesOnAndSessionsStartAgain) {
    const auto ids = stable_group(2);
    commit({.member = ids[0], .generation = 1, .metadata = "note"});
    advance_ms(9'000);
    const std::string before = coordinator_->dump();
    crash_and_restart();
    EXPECT_EQ(coordinator_->dump(), before);
    advance_ms(9'000);
    EXPECT_EQ(heartbeat(ids[1], 1), ErrorCode::none);
    EXPECT_EQ(text_of(synced(sync(ids[0], 1)).assignment), "for " + ids[0]);
    advance_ms(1'000);
    EXPECT_EQ(heartbeat(ids[1], 1), ErrorCode::rebalance_in_progress);  // the other was silent
}

TEST_F(Replay, RebalanceUnderWayFallsBackToTheLastAssignment) {
    const auto ids = stable_group(2);
    join({.id = ids[0]});
    crash_and_restart();
    EXPECT_EQ(state(), GroupState::stable);
    EXPECT_EQ(heartbeat(ids[0], 1), ErrorCode::none);
}

TEST_F(Replay, StaticMembersKeepTheirNames) {
    const ReplyToken first = join({.instance = "one"});
    advance_ms(3'000);
    sync_all({joined(first).member_id}, 1);
    const std::string renewed = joined(join({.instance = "one"})).member_id;
    crash_and_restart();
    EXPECT_EQ(heartbeat(renewed, 1, "one"), ErrorCode::none);
    const JoinResult again = joined(join({.instance = "one"}));
    EXPECT_EQ(again.generation.value, 1);
    EXPECT_TRUE(again.skip_assignment);
}

TEST_F(Replay, OffsetsGroupsAndTombstones) {
    commit({.group = "a", .offsets = {{0, 1}, {1, 2}}, .retention_ms = 77, .version = 4});
    commit({.group = "b"});
    delete_offsets("a", "topic", {0});
    delete_group("b");
    const std::string before = coordinator_->dump();
    crash_and_restart();
    EXPECT_EQ(coordinator_->dump(), before);
    EXPECT_EQ(committed("topic", 1, "a"), 2);
    EXPECT_EQ(coordinator_->group_count(), 1U);
}

TEST_F(Replay, OffsetsSurviveGroupMetadata) {
    const auto ids = stable_group(1);
    commit({.member = ids[0], .generation = 1});
    leave(ids[0]);
    crash_and_restart();
    EXPECT_EQ(committed("topic", 0), 7);
    EXPECT_EQ(state(), GroupState::empty);
    // The next generation continues the old number.
    const ReplyToken token = join({.id = fresh_id()});
    advance_ms(3'000);
    EXPECT_EQ(joined(token).generation.value, 3);
}

TEST_F(Replay, SubscribedTopicsAreKnownAgain) {
    stable_group(1);
    crash_and_restart();
    EXPECT_EQ(delete_offsets("g", "topic", {0}).topics.at(0).partitions.at(0).error, ErrorCode::group_subscribed_to_topic);
    EXPECT_EQ(delete_offsets("g", "other", {0}).topics.at(0).partitions.at(0).error, ErrorCode::none);
}

TEST_F(Replay, RecordsOfOthersThatMakeNoSenseDoNoHarm) {
    const MemberRecord member{.member_id = "m", .group_instance_id = "i", .session_timeout_ms = 10'000};
    const std::vector<Record> of_others = {
        GroupMetadataRecord{
            .group_id = "g", .protocol_type = "consumer", .generation = {4}, .leader = "absent", .members = {member, member}},
        GroupTombstone{"nobody"}, OffsetTombstone{"nobody", "t", {0}},
        OffsetCommitRecord{.group_id = "h", .topic = "t", .partition = {0}, .offset = {1}}, GroupTombstone{"h"}};
    for (const Record& record : of_others) {
        log_.push_back(std::make_unique<StoredRecord>(record));
    }
    start();
    EXPECT_EQ(describe("g").members.size(), 1U);
    EXPECT_EQ(committed("t", 0, "h"), 1);
    // A member of a group without protocol name joins again and the group recovers.
    const ReplyToken token = join({.id = "m", .instance = "i", .protocols = {{"", "x"}}});
    EXPECT_EQ(joined(token).generation.value, 5);
}

TEST(ConsumerProtocol, ReadsTheTopicsOfEveryVersion) {
    const std::string bytes = std::string("\0\3\0\0\0\2\0\1a\0\2bc\0\0\0\1u", 18) + "later fields";
    EXPECT_EQ(subscribed_topics(as_bytes(bytes)), (std::vector<std::string_view>{"a", "bc"}));
}

TEST(ConsumerProtocol, EveryCutIsUndecodable) {
    const std::string bytes = subscription_to({"topic", "other"});
    EXPECT_TRUE(subscribed_topics(as_bytes(bytes)));
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        EXPECT_FALSE(subscribed_topics(as_bytes(bytes.substr(0, length)))) << length;
    }
}

TEST(ConsumerProtocol, AbsurdCountsAreUndecodable) {
    EXPECT_FALSE(subscribed_topics(as_bytes(std::string("\0\0\x7f\xff\xff\xff\0\0", 8))));
    EXPECT_FALSE(subscribed_topics(as_bytes(std::string("\0\0\xff\xff\xff\xff\0\0", 8))));
    EXPECT_FALSE(subscribed_topics(as_bytes(std::string("\0\0\0\0\0\1\xff\xff\0\0\0\0", 12))));
}

TEST(TimerQueue, RunsByDeadlineThenByOrderOfScheduling) {
    TimerQueue queue;
    std::vector<std::unique_ptr<Timer>> timers;
    for (int index = 0; index < 100; ++index) {
        timers.push_back(std::make_unique<Timer>());
        queue.schedule(*timers.back(), {index * 37 % 10});
    }
    queue.schedule(*timers[0], {100});
    timers[50].reset();
    queue.cancel(*timers[51]);
    EXPECT_EQ(queue.size(), 98U);
    std::vector<std::size_t> order;
    for (std::int64_t now = 0; now <= 100; ++now) {
        while (const Timer* due = queue.pop_due({now})) {
            for (std::size_t index = 0; index < timers.size(); ++index) {
                if (timers[index].get() == due) {
                    order.push_back(index);
                }
            }
        }
        const auto next = queue.next_deadline();
        EXPECT_TRUE(!next || next->value > now);
    }
    ASSERT_EQ(order.size(), 98U);
    EXPECT_EQ(order.back(), 0U);
    for (std::size_t position = 1; position + 1 < order.size(); ++position) {
        const auto key = [](std::size_t index) { return std::pair(index * 37 % 10, index); };
        EXPECT_LT(key(order[position - 1]), key(order[position]));
    }
}

}  // namespace
}  // namespace partita::groups::testing
