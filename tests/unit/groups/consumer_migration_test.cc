#include <gmock/gmock.h>

#include "broker/groups/consumer_metadata.h"
#include "tests/support/declared_settings.h"
#include "tests/unit/groups/consumer_fixture.h"

namespace partita::groups::testing {
namespace {

using ::testing::ElementsAre;

class Migration : public ConsumerFixture {
  protected:
    explicit Migration(GroupConfig config = declared_group_config()) : ConsumerFixture(std::move(config)) { set_topic("t", 4); }

    static Joining classic(const std::string& id = "") {
        Joining joining;
        joining.id = id;
        joining.protocols = {{"range", subscription_to({"t"})}};
        return joining;
    }
    std::string assignment(const std::vector<std::int32_t>& indexes) const {
        return text_of(write_assignment(partitions("t", indexes), 0, test_cluster()));
    }
    Assignment read(const OwnedBytes& bytes) const { return read_assignment(bytes, test_cluster())->assignment; }

    /// One classic member with all partitions, in generation 1.
    std::string classic_group() {
        const std::string id = fresh_id(classic());
        const ReplyToken token = join(classic(id));
        advance_ms(config_.initial_rebalance_delay_ms);
        const auto result = joined(token);
        EXPECT_EQ(result.generation.value, 1);
        EXPECT_EQ(synced(sync(id, 1, {{id, assignment({0, 1, 2, 3})}})).error, ErrorCode::none);
        return id;
    }
};

TEST_F(Migration, ConsumerMemberUpgradesAClassicGroup) {
    const std::string old = classic_group();
    const auto result = beat(joining("new"));
    EXPECT_EQ(result.error, ErrorCode::none);
    EXPECT_THAT(list(), ElementsAre("g consumer Reconciling consumer"));
    // The coordinator tells the classic member to rejoin; the member gives up two partitions and goes on with the others.
    EXPECT_EQ(heartbeat(old, 1), ErrorCode::rebalance_in_progress);
    auto rejoined = joined(join(classic(old)));
    EXPECT_EQ(rejoined.error, ErrorCode::none);
    EXPECT_EQ(rejoined.leader, "");
    EXPECT_EQ(rejoined.protocol_name, "range");
    const auto given = synced(sync(old, rejoined.generation.value));
    EXPECT_EQ(given.error, ErrorCode::none);
    EXPECT_EQ(read(given.assignment), partitions("t", {0, 1}));
    EXPECT_EQ(beat(silent("new", result.member_epoch)).assignment, partitions("t", {2, 3}));
    EXPECT_EQ(describe_consumer().state, "Stable");
    EXPECT_TRUE(describe_consumer().members.at(0).protocol != describe_consumer().members.at(1).protocol);
}

TEST_F(Migration, UpgradedGroupSurvivesARestart) {
    classic_group();
    beat(joining("new"));
    const std::string before = coordinator_->dump();
    crash_and_restart();
    EXPECT_EQ(coordinator_->dump(), before);
}

TEST_F(Migration, GroupIsClassicAgainWhenItsLastConsumerMemberLeaves) {
    const std::string old = classic_group();
    beat(joining("new"));
    EXPECT_EQ(beat(silent("new", -1)).error, ErrorCode::none);
    EXPECT_THAT(list(), ElementsAre("g consumer PreparingRebalance classic"));
    const ReplyToken token = join(classic(old));
    const auto rejoined = joined(token);
    EXPECT_EQ(rejoined.error, ErrorCode::none);
    EXPECT_EQ(rejoined.leader, old);
    const std::string assigned = assignment({0, 1, 2, 3});
    EXPECT_EQ(synced(sync(old, rejoined.generation.value, {{old, assigned}})).error, ErrorCode::none);
    const std::string before = coordinator_->dump();
    crash_and_restart();
    EXPECT_EQ(coordinator_->dump(), before);
}

TEST_F(Migration, EmptyGroupsChangeTheirTypeFreely) {
    commit({.topic = "t", .topic_id = id_of("t"), .offsets = {{0, 5}}});
    beat(joining("m1"));
    EXPECT_THAT(list(), ElementsAre("g consumer Stable consumer"));
    EXPECT_EQ(committed("t", 0), 5);
    beat(silent("m1", -1));
    fresh_id(classic());
    EXPECT_THAT(list(), ElementsAre("g  Empty classic"));
    EXPECT_EQ(committed("t", 0), 5);
    const std::string before = coordinator_->dump();
    crash_and_restart();
    EXPECT_EQ(coordinator_->dump(), before);
}

TEST_F(Migration, ClassicMemberJoinsAConsumerGroup) {
    beat(joining("new"));
    advance_ms(1'000);
    const auto first = joined(join(classic()));
    EXPECT_EQ(first.error, ErrorCode::member_id_required);
    const auto result = joined(join(classic(first.member_id)));
    EXPECT_EQ(result.error, ErrorCode::none);
    EXPECT_EQ(result.generation.value, 3);
    EXPECT_EQ(read(synced(sync(first.member_id, 3)).assignment), Assignment());
    EXPECT_EQ(heartbeat(first.member_id, 3), ErrorCode::none);
    beat(owning("new", 2, partitions("t", {0, 1, 2, 3})));
    beat(owning("new", 2, partitions("t", first.member_id < "new" ? std::vector{2, 3} : std::vector{0, 1})));
    beat(owning("new", 2, Assignment()));
    EXPECT_EQ(heartbeat(first.member_id, 3), ErrorCode::rebalance_in_progress);
    joined(join(classic(first.member_id)));
    EXPECT_EQ(partition_count(read(synced(sync(first.member_id, 3)).assignment)), 2u);
}

TEST_F(Migration, ClassicMemberGoesOnWhileTheNextAssignmentIsBatched) {
    beat(joining("new"));
    advance_ms(1'000);
    const std::string id = joined(join(classic())).member_id;
    EXPECT_EQ(joined(join(classic(id))).generation.value, 3);
    // The group is at epoch 4 now, the assignment at 3: rejoining would give the member nothing new.
    beat(joining("newer"));
    EXPECT_EQ(synced(sync(id, 3)).error, ErrorCode::none);
    EXPECT_EQ(heartbeat(id, 3), ErrorCode::none);
    advance_ms(1'000);
    beat(silent("new", 2));
    EXPECT_EQ(heartbeat(id, 3), ErrorCode::rebalance_in_progress);
    EXPECT_EQ(synced(sync(id, 3)).error, ErrorCode::rebalance_in_progress);
}

TEST_F(Migration, RefusedClassicMemberIsToldNoId) {
    beat(joining("new"));
    Joining other = classic("x");
    other.type = "connect";
    const JoinResult refused = joined(join(other));
    EXPECT_EQ(refused.error, ErrorCode::inconsistent_group_protocol);
    EXPECT_EQ(refused.member_id, "");
}

TEST_F(Migration, ClassicMemberIsFencedWhenItDoesNotRejoinInTime) {
    const std::string old = classic_group();
    beat(joining("new"));
    EXPECT_EQ(heartbeat(old, 1), ErrorCode::rebalance_in_progress);
    for (int i = 0; i < 12; ++i) {
        advance_ms(5'000);
        heartbeat(old, 1);
        beat(silent("new", describe_consumer().members.empty() ? 0 : 2));
    }
    EXPECT_EQ(heartbeat(old, 1), ErrorCode::unknown_member_id);
}

TEST_F(Migration, BytesThatAreNoSubscriptionAreAnswered) {
    beat(joining("new"));
    Joining broken = classic("x");
    broken.protocols = {{"range", "\x01"}};
    EXPECT_EQ(joined(join(broken)).error, ErrorCode::unknown_server_error);
    broken.protocols = {{"range", std::string("\0\0\x7f\xff\xff\xff", 6)}};
    EXPECT_EQ(joined(join(broken)).error, ErrorCode::unknown_server_error);
    EXPECT_EQ(describe_consumer().members.size(), 1u);
}

TEST_F(Migration, GroupsOfOtherProtocolsAreNotUpgraded) {
    Joining connect = classic();
    connect.type = "connect";
    connect.id = fresh_id(connect);
    join(connect);
    const auto result = beat(joining("new"));
    EXPECT_EQ(result.error, ErrorCode::group_id_not_found);
    EXPECT_EQ(result.error_message,
              "Cannot upgrade classic group g to consumer group because the group does not use the "
              "consumer embedded protocol.");
}

TEST_F(Migration, WaitingClassicMembersAreToldToComeAgain) {
    const std::string id = fresh_id(classic());
    const ReplyToken waiting = join(classic(id));
    ASSERT_TRUE(is_waiting(waiting));
    EXPECT_EQ(beat(joining("new")).error, ErrorCode::none);
    EXPECT_EQ(joined(waiting).error, ErrorCode::rebalance_in_progress);
    EXPECT_EQ(joined(join(classic(id))).error, ErrorCode::none);
}

TEST_F(Migration, PartitionThatALeaderGaveTwiceStaysWithOne) {
    const auto ids = stable_group(2, classic());
    const ReplyToken leader = join(classic(ids[0]));
    const ReplyToken follower = join(classic(ids[1]));
    const std::int32_t generation = joined(leader).generation.value;
    joined(follower);
    const ReplyToken second = sync(ids[1], generation);
    synced(sync(ids[0], generation, {{ids[0], assignment({0, 1, 2})}, {ids[1], assignment({2, 3})}}));
    synced(second);
    EXPECT_EQ(beat(joining("new")).error, ErrorCode::none);
    crash_and_restart();
    EXPECT_EQ(describe_consumer().members.size(), 3u);
}

struct NoUpgrade : Migration {
    NoUpgrade() : Migration(group_config_with(&GroupConfig::migration_policy, MigrationPolicy::downgrade)) {}
};
TEST_F(NoUpgrade, GroupWithMembersStaysClassic) {
    classic_group();
    EXPECT_EQ(beat(joining("new")).error_message,
              "Cannot upgrade classic group g to consumer group because online upgrade is disabled.");
}

struct NoMigration : Migration {
    NoMigration() : Migration(group_config_with(&GroupConfig::migration_policy, MigrationPolicy::disabled)) {}
};
TEST_F(NoMigration, ClassicMembersAreKeptOut) {
    beat(joining("new"));
    EXPECT_EQ(joined(join(classic())).error, ErrorCode::inconsistent_group_protocol);
}

struct NoDowngrade : Migration {
    NoDowngrade() : Migration(group_config_with(&GroupConfig::migration_policy, MigrationPolicy::upgrade)) {}
};
TEST_F(NoDowngrade, GroupOfClassicMembersStaysAConsumerGroup) {
    classic_group();
    beat(joining("new"));
    beat(silent("new", -1));
    EXPECT_EQ(describe_consumer().members.size(), 1u);
}

TEST(MigrationPolicyName, IsReadInAnyCase) {
    EXPECT_EQ(migration_policy("Bidirectional"), MigrationPolicy::bidirectional);
    EXPECT_EQ(migration_policy("UPGRADE"), MigrationPolicy::upgrade);
    EXPECT_EQ(migration_policy("downgrade"), MigrationPolicy::downgrade);
    EXPECT_EQ(migration_policy("disabled"), MigrationPolicy::disabled);
}

/// A filter that knows no topic at all.
class KnowsNone final : public TopicFilter {
  public:
    bool has(std::string_view) const override { return false; }
};

TEST_F(Migration, AClassicMemberThatHasExpressionsResolvedNamesNoTopicThatItMayNotDescribe) {
    Beat with_regex = joining("m1");
    with_regex.topics.reset();
    with_regex.regex = "x.*";
    set_topic("x1", 1);
    beat(with_regex);
    ASSERT_THAT(coordinator_->dump(), ::testing::HasSubstr("x1"));
    advance_ms(10'001);
    set_topic("x2", 1);
    const KnowsNone none;
    Joining classic_member = classic(fresh_id(classic()));
    classic_member.may_describe = &none;
    EXPECT_EQ(joined(join(classic_member)).error, ErrorCode::none);
    EXPECT_THAT(coordinator_->dump(), ::testing::Not(::testing::HasSubstr("x1")));
    EXPECT_THAT(coordinator_->dump(), ::testing::Not(::testing::HasSubstr("x2")));
}

}  // namespace
}  // namespace partita::groups::testing
