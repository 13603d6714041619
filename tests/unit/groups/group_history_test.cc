// Tests what a coordinator tells the history of a group.

#include "broker/insight/history/group_history.h"
#include "broker/groups/group_queries.h"
#include "tests/unit/groups/consumer_fixture.h"

namespace partita::groups::testing {
namespace {

using insight::GroupHistory;
using insight::TakeoverCause;
using insight::TakeoverKind;

std::vector<std::string> causes(const GroupHistory::Rebalance& rebalance) {
    std::vector<std::string> list;
    for (const auto& event : rebalance.events) {
        list.emplace_back(to_string(event.cause));
    }
    return list;
}

/// The history of "g" as its coordinator tells it.
class ClassicHistory : public ConsumerFixture {
  protected:
    void SetUp() override { set_topic("topic", 4); }
    GroupHistory history() { return coordinator_->queries().history_of("g").value(); }
    std::string owner_of(std::int32_t partition) {
        const GroupHistory known = history();
        const auto* ownership = known.find("topic", partition);
        if (ownership == nullptr || known.free_since(*ownership)) {
            return "";
        }
        return known.members()[static_cast<std::size_t>(ownership->owner)].member_id;
    }
    /// `ids` rejoin with the first as the leader; then each has its share.
    void rejoin(const std::vector<std::string>& ids, const std::vector<std::vector<std::int32_t>>& shares,
                const std::vector<ReplyToken>& waiting = {}) {
        std::vector<ReplyToken> joins = waiting;
        for (const std::string& id : ids) {
            joins.push_back(join({.id = id}));
        }
        const std::int32_t generation = joined(joins.back()).generation.value;
        for (std::size_t index = 0; index + 1 < joins.size(); ++index) {
            joined(joins[index]);
        }
        std::vector<std::pair<std::string, std::string>> assignments;
        for (std::size_t index = 0; index < shares.size(); ++index) {
            assignments.emplace_back(members_.at(index), assignment_of({{"topic", shares[index]}}));
        }
        sync(members_.at(0), generation, assignments);
    }
    std::vector<std::string> members_;
};

TEST_F(ClassicHistory, ANewMemberTakesItsFairShareAndALostOneIsToldAsLost) {
    members_ = {fresh_id()};
    const ReplyToken first = join({.id = members_[0]});
    advance_ms(3000);
    rejoin({}, {{0, 1, 2, 3}}, {first});
    EXPECT_EQ(owner_of(3), members_[0]);
    EXPECT_TRUE(history().takeovers().empty());
    ASSERT_EQ(history().rebalances().size(), 1U);
    EXPECT_EQ(causes(history().rebalances()[0]), (std::vector<std::string>{"joined"}));
    EXPECT_EQ(history().rebalances()[0].ended->value - history().rebalances()[0].began.value, 3000);

    members_.push_back(fresh_id());
    const ReplyToken second = join({.id = members_[1]});
    advance_ms(500);
    rejoin({members_[0]}, {{0, 1}, {2, 3}}, {second});
    EXPECT_EQ(owner_of(3), members_[1]);
    GroupHistory known = history();
    ASSERT_EQ(known.takeovers().size(), 2U);
    EXPECT_EQ(known.takeovers()[0].cause, TakeoverCause::normal);
    EXPECT_EQ(known.takeovers()[0].unowned_ms, 500);
    EXPECT_EQ(known.members()[static_cast<std::size_t>(known.rebalances().back().slowest)].member_id, members_[0]);

    // The second one is silent, the first one goes on.
    for (int second_ = 0; second_ < 4; ++second_) {
        advance_ms(3000);
        static_cast<void>(heartbeat(members_[0], 2));
    }
    rejoin({members_[0]}, {{0, 1, 2, 3}});
    known = history();
    EXPECT_EQ(causes(known.rebalances().back()), (std::vector<std::string>{"session_expired"}));
    EXPECT_EQ(known.takeovers().back().cause, TakeoverCause::lost);
    EXPECT_EQ(known.takeover_counts().at(static_cast<std::size_t>(TakeoverCause::lost)), 2U);
}

TEST_F(ClassicHistory, AfterARestartItIsKnownWhoHasWhatAndNotSinceWhen) {
    members_ = {fresh_id()};
    const ReplyToken first = join({.id = members_[0]});
    advance_ms(3000);
    rejoin({}, {{0, 1, 2, 3}}, {first});
    crash_and_restart();
    EXPECT_EQ(owner_of(2), members_[0]);
    EXPECT_EQ(history().find("topic", 2)->since, kNoTimestamp);
    EXPECT_TRUE(history().rebalances().empty());
    EXPECT_EQ(leave(members_[0]), ErrorCode::none);
    EXPECT_EQ(owner_of(2), "");
    EXPECT_EQ(causes(history().rebalances().back()), (std::vector<std::string>{"left"}));
    EXPECT_TRUE(history().rebalances().back().ended);
}

TEST_F(ClassicHistory, OfATopicThatIsDeletedNobodyHasAnything) {
    members_ = {fresh_id()};
    const ReplyToken first = join({.id = members_[0]});
    advance_ms(3000);
    rejoin({}, {{0, 1, 2, 3}}, {first});
    ASSERT_EQ(owner_of(2), members_[0]);
    delete_topic("topic", history().topics().at("topic").topic_id);
    EXPECT_TRUE(history().topics().empty());
}

TEST_F(ClassicHistory, AnAssignmentOfPartitionsThatDoNotExistIsNotFollowed) {
    members_ = {fresh_id()};
    const ReplyToken first = join({.id = members_[0]});
    advance_ms(3000);
    rejoin({}, {{0, 4, 2'000'000'000, -7}}, {first});
    EXPECT_EQ(owner_of(0), members_[0]);
    EXPECT_EQ(history().topics().at("topic").partitions.size(), 1U);
}

TEST_F(ClassicHistory, ARecordOfPartitionsThatDoNotExistIsNotFollowed) {
    set_topic("t", 4);
    join_and_follow(joining("m1"));
    settle();
    Record record;
    for (const auto& written : log_) {
        const auto* current = std::get_if<CurrentAssignmentRecord>(&written->view());
        if (current != nullptr && current->member_id == "m1") {
            record = *current;
        }
    }
    const auto& assigned = std::get<CurrentAssignmentRecord>(record).progress.assigned;
    ASSERT_EQ(assigned.size(), 1U);
    ASSERT_EQ(assigned[0].partitions.size(), 4U);
    auto& partitions = std::get<CurrentAssignmentRecord>(record).progress.assigned[0].partitions;
    partitions[0].partition = -1;
    partitions[3].partition = 2'000'000'000;
    log_.push_back(std::make_unique<StoredRecord>(record));
    crash_and_restart();
    const GroupHistory known = history();
    EXPECT_EQ(known.topics().at("t").partitions.size(), 3U);
    EXPECT_NE(known.find("t", 2), nullptr);
    EXPECT_EQ(known.find("t", 3), nullptr);
}

TEST_F(ClassicHistory, AFollowedPartitionOfKip848HasOneOwnerAfterTheOther) {
    set_topic("t", 4);
    join_and_follow(joining("m1"));
    settle();
    join_and_follow(joining("m2"));
    advance_ms(2000);
    settle();
    GroupHistory known = history();
    ASSERT_EQ(known.takeovers().size(), 2U);
    EXPECT_EQ(known.takeovers()[0].cause, TakeoverCause::normal);
    EXPECT_TRUE(known.rebalances().back().ended);
    EXPECT_FALSE(stands_still(known.rebalances().back()));
    EXPECT_EQ(causes(known.rebalances().back()), (std::vector<std::string>{"joined"}));

    set_topic("t", 6);
    settle();
    EXPECT_EQ(causes(history().rebalances().back()), (std::vector<std::string>{"topics_changed"}));
    EXPECT_EQ(history().rebalances().back().first_owned, 2U);

    // m2 is silent until its session ends.
    const auto keep = followed_.extract("m2");
    for (int round = 0; round < 20; ++round) {
        advance_ms(3000);
        Followed& first = followed_.at("m1");
        const auto result = beat(owning("m1", first.epoch, first.assignment));
        first.epoch = result.member_epoch;
        if (result.assignment) {
            first.assignment = *result.assignment;
        }
    }
    settle();
    known = history();
    EXPECT_EQ(causes(known.rebalances().back()), (std::vector<std::string>{"session_expired"}));
    EXPECT_EQ(known.takeovers().back().cause, TakeoverCause::lost);
    EXPECT_EQ(known.takeover_counts().at(static_cast<std::size_t>(TakeoverCause::lost)), 3U);

    // The member comes back with an earlier epoch.
    EXPECT_NE(beat(silent("m2", keep.mapped().epoch)).error, ErrorCode::none);
    EXPECT_EQ(history().takeover_kinds().at(static_cast<std::size_t>(TakeoverKind::stolen)), 3U);
    EXPECT_NE(beat(silent("m1", 1)).error, ErrorCode::none);
    EXPECT_EQ(causes(history().rebalances().back()).back(), "fenced");
}

}  // namespace
}  // namespace partita::groups::testing
