#include <gmock/gmock.h>

#include "tests/unit/groups/consumer_fixture.h"

namespace partita::groups::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ConsumerHeartbeat : public ConsumerFixture {
  protected:
    ConsumerHeartbeat() { set_topic("t", 4); }
};

TEST_F(ConsumerHeartbeat, FirstMemberGetsEverythingAtEpochTwo) {
    const auto result = beat(joining("m1"));
    EXPECT_EQ(result.error, ErrorCode::none);
    EXPECT_EQ(result.member_id, "m1");
    EXPECT_EQ(result.member_epoch, 2);
    EXPECT_EQ(result.heartbeat_interval_ms, 5'000);
    EXPECT_EQ(result.assignment, partitions("t", {0, 1, 2, 3}));
    EXPECT_EQ(describe_consumer().state, "Stable");
}

TEST_F(ConsumerHeartbeat, UnchangedAssignmentIsNotRepeated) {
    beat(joining("m1"));
    EXPECT_EQ(beat(silent("m1", 2)).assignment, std::nullopt);
}

TEST_F(ConsumerHeartbeat, FullRequestIsAnsweredInFull) {
    beat(joining("m1"));
    Beat full = joining("m1");
    full.epoch = 2;
    full.owned = partitions("t", {0, 1, 2, 3});
    EXPECT_EQ(beat(full).assignment, partitions("t", {0, 1, 2, 3}));
}

TEST_F(ConsumerHeartbeat, PartitionMovesOnlyWhenItsOwnerSaidThatItLetGo) {
    beat(joining("m1"));
    advance_ms(1'000);
    const auto second = beat(joining("m2"));
    EXPECT_EQ(second.member_epoch, 3);
    EXPECT_EQ(second.assignment, Assignment());

    // The coordinator tells the first member to give partitions up, and keeps its epoch until it did.
    const auto told = beat(silent("m1", 2));
    EXPECT_EQ(told.member_epoch, 2);
    EXPECT_EQ(told.assignment, partitions("t", {0, 1}));
    EXPECT_EQ(beat(silent("m2", 3)).assignment, std::nullopt);
    EXPECT_EQ(beat(owning("m1", 2, partitions("t", {0, 1, 2}))).member_epoch, 2);
    EXPECT_EQ(beat(silent("m2", 3)).assignment, std::nullopt);
    EXPECT_EQ(describe_consumer().state, "Reconciling");

    EXPECT_EQ(beat(owning("m1", 2, partitions("t", {0, 1}))).member_epoch, 3);
    EXPECT_EQ(beat(silent("m2", 3)).assignment, partitions("t", {2, 3}));
    EXPECT_EQ(describe_consumer().state, "Stable");
}

TEST_F(ConsumerHeartbeat, MembersThatComeTogetherAreAssignedTogether) {
    beat(joining("m1"));
    EXPECT_EQ(beat(joining("m2")).member_epoch, 2);
    EXPECT_EQ(describe_consumer().state, "Assigning");
    advance_ms(1'000);
    EXPECT_EQ(beat(silent("m2", 2)).member_epoch, 3);
}

TEST_F(ConsumerHeartbeat, ExpansionReachesEveryMemberWithinTwoHeartbeats) {
    join_and_follow(joining("m1"));
    advance_ms(1'000);
    join_and_follow(joining("m2"));
    settle();
    set_topic("t", 10);
    advance_ms(5'000);
    for (int round = 0; round < 2; ++round) {
        for (auto& [member, known] : followed_) {
            const auto result = beat(silent(member, known.epoch));
            known.epoch = result.member_epoch;
            if (result.assignment) {
                known.assignment = *result.assignment;
            }
        }
    }
    EXPECT_EQ(share("m1"), 5u);
    EXPECT_EQ(share("m2"), 5u);
    EXPECT_EQ(describe_consumer().state, "Stable");
}

TEST_F(ConsumerHeartbeat, DeletedTopicIsTakenAway) {
    beat(joining("m1"));
    advance_ms(1'000);
    drop_topic("t");
    const auto result = beat(silent("m1", 2));
    EXPECT_EQ(result.assignment, Assignment());
    EXPECT_EQ(describe_consumer().epoch, 3);
}

TEST_F(ConsumerHeartbeat, TopicThatComesLaterIsAssigned) {
    beat(joining("m1", {"t", "later"}));
    advance_ms(1'000);
    set_topic("later", 1);
    EXPECT_EQ(beat(silent("m1", 2)).assignment, (Assignment{{id_of("t"), {0, 1, 2, 3}}, {id_of("later"), {0}}}));
}

TEST_F(ConsumerHeartbeat, TopicsOfOthersDoNotMoveTheEpoch) {
    beat(joining("m1"));
    set_topic("other", 3);
    beat(silent("m1", 2));
    EXPECT_EQ(describe_consumer().epoch, 2);
}

TEST_F(ConsumerHeartbeat, UnsubscribedTopicIsTakenAwayBeforeTheNextAssignment) {
    set_topic("u", 1);
    beat(joining("m1", {"t", "u"}));
    Beat changed = silent("m1", 2);
    changed.topics = std::vector<std::string>{"u"};
    const auto result = beat(changed);
    EXPECT_EQ(result.assignment, partitions("u", {0}));
    EXPECT_EQ(result.member_epoch, 2);
    EXPECT_EQ(describe_consumer().epoch, 3);
}

TEST_F(ConsumerHeartbeat, RequestsAreRefusedInKafkasWords) {
    const auto refusal = [this](const Beat& one) {
        const auto result = beat(one);
        return std::pair(result.error, result.error_message.value_or(""));
    };
    using Refused = std::pair<ErrorCode, std::string>;
    Beat one = joining("");
    EXPECT_EQ(refusal(one), Refused(ErrorCode::invalid_request, "MemberId can't be empty."));
    one = joining("m");
    one.group = "";
    EXPECT_EQ(refusal(one), Refused(ErrorCode::invalid_request, "GroupId can't be empty."));
    one = joining("m");
    one.instance = "";
    EXPECT_EQ(refusal(one), Refused(ErrorCode::invalid_request, "InstanceId can't be empty."));
    one = joining("m");
    one.rack = "";
    EXPECT_EQ(refusal(one), Refused(ErrorCode::invalid_request, "RackId can't be empty."));
    one = joining("m");
    one.rebalance_ms = -1;
    EXPECT_EQ(refusal(one), Refused(ErrorCode::invalid_request, "RebalanceTimeoutMs must be provided in first request."));
    one = joining("m");
    one.owned = partitions("t", {0});
    EXPECT_EQ(refusal(one), Refused(ErrorCode::invalid_request, "TopicPartitions must be empty when (re-)joining."));
    one = joining("m");
    one.topics.reset();
    EXPECT_EQ(refusal(one), Refused(ErrorCode::invalid_request,
                                    "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when "
                                    "(re-)joining."));
    EXPECT_EQ(refusal(silent("m", -2)), Refused(ErrorCode::invalid_request, "InstanceId can't be null."));
    EXPECT_EQ(refusal(silent("m", -3)), Refused(ErrorCode::invalid_request, "MemberEpoch is invalid."));
    one = joining("m");
    one.assignor = "fair";
    EXPECT_EQ(refusal(one), Refused(ErrorCode::unsupported_assignor,
                                    "ServerAssignor fair is not supported. Supported assignors: uniform, range."));
    EXPECT_EQ(refusal(silent("m", 1)), Refused(ErrorCode::group_id_not_found, "Consumer group g not found."));
    EXPECT_EQ(refusal(silent("m", -1)), Refused(ErrorCode::group_id_not_found, "Group g not found."));
    beat(joining("m1"));
    EXPECT_EQ(refusal(silent("m", 1)), Refused(ErrorCode::unknown_member_id, "Member m is not a member of group g."));
    EXPECT_EQ(refusal(silent("m1", 3)),
              Refused(ErrorCode::fenced_member_epoch,
                      "The consumer group member has a greater member epoch (3) than the one known by the group "
                      "coordinator (2). The member must abandon all its partitions and rejoin."));
    EXPECT_EQ(refusal(silent("m1", 1)),
              Refused(ErrorCode::fenced_member_epoch,
                      "The consumer group member has a smaller member epoch (1) than the one known by the group "
                      "coordinator (2). The member must abandon all its partitions and rejoin."));
    one = joining("m");
    one.topics.reset();
    one.regex = "[";
    EXPECT_EQ(refusal(one), Refused(ErrorCode::invalid_regular_expression,
                                    "SubscribedTopicRegex `[` is not a valid regular expression: missing closing ]."));
    EXPECT_EQ(coordinator_->group_count(), 1u);
}

TEST_F(ConsumerHeartbeat, MemberIdIsGivenInVersionZeroOnly) {
    Beat one = joining("");
    one.version = 0;
    EXPECT_THAT(beat(one).member_id.value_or(""), HasSubstr("fresh"));
}

TEST_F(ConsumerHeartbeat, LostAnswerIsForgivenOnce) {
    join_and_follow(joining("m1"));
    advance_ms(1'000);
    beat(joining("m2"));
    beat(silent("m1", 2));
    EXPECT_EQ(beat(owning("m1", 2, partitions("t", {0, 1}))).member_epoch, 3);
    // The answer with epoch 3 got lost: the member comes with 2 again.
    EXPECT_EQ(beat(owning("m1", 2, partitions("t", {0, 1}))).member_epoch, 3);
    EXPECT_EQ(beat(owning("m1", 2, partitions("t", {0, 1, 2}))).error, ErrorCode::fenced_member_epoch);
}

TEST_F(ConsumerHeartbeat, KnownMemberThatJoinsAgainKeepsItsPlace) {
    beat(joining("m1"));
    const auto again = beat(joining("m1"));
    EXPECT_EQ(again.member_epoch, 2);
    EXPECT_EQ(again.assignment, partitions("t", {0, 1, 2, 3}));
    EXPECT_EQ(describe_consumer().members.size(), 1u);
}

TEST_F(ConsumerHeartbeat, LeavingMemberFreesItsPartitions) {
    beat(joining("m1"));
    advance_ms(1'000);
    beat(joining("m2"));
    const auto left = beat(silent("m1", -1));
    EXPECT_EQ(left.member_epoch, -1);
    advance_ms(1'000);
    EXPECT_EQ(beat(silent("m2", 3)).assignment, partitions("t", {0, 1, 2, 3}));
    EXPECT_EQ(beat(silent("m1", 2)).error, ErrorCode::unknown_member_id);
}

TEST_F(ConsumerHeartbeat, SilentMemberIsFencedAfterItsSession) {
    beat(joining("m1"));
    advance_ms(44'999);
    EXPECT_EQ(describe_consumer().members.size(), 1u);
    advance_ms(1);
    EXPECT_EQ(describe_consumer().members.size(), 0u);
    EXPECT_EQ(describe_consumer().state, "Empty");
    EXPECT_EQ(describe_consumer().epoch, 3);
}

TEST_F(ConsumerHeartbeat, MemberThatDoesNotLetGoIsFencedAfterItsRebalanceTimeout) {
    Beat first = joining("m1");
    first.rebalance_ms = 10'000;
    beat(first);
    advance_ms(1'000);
    beat(joining("m2"));
    beat(silent("m1", 2));
    advance_ms(9'999);
    EXPECT_EQ(beat(silent("m1", 2)).error, ErrorCode::none);
    advance_ms(1);
    EXPECT_EQ(beat(silent("m1", 2)).error, ErrorCode::unknown_member_id);
    EXPECT_EQ(beat(silent("m2", 3)).assignment, partitions("t", {0, 1, 2, 3}));
}

TEST_F(ConsumerHeartbeat, SettingsOfTheGroupReplaceTheBrokers) {
    set_cluster(test_cluster().with_overrides({.session_timeout_ms = 50'000, .heartbeat_interval_ms = 7'000}), false);
    EXPECT_EQ(beat(joining("m1")).heartbeat_interval_ms, 7'000);
    advance_ms(49'999);
    EXPECT_EQ(describe_consumer().members.size(), 1u);
    advance_ms(1);
    EXPECT_EQ(describe_consumer().members.size(), 0u);
}

TEST_F(ConsumerHeartbeat, MostWantedAssignorWins) {
    Beat first = joining("m1");
    first.assignor = "range";
    beat(first);
    EXPECT_EQ(describe_consumer().assignor, "range");
    Beat second = joining("m2");
    second.assignor = "uniform";
    beat(second);
    EXPECT_EQ(describe_consumer().assignor, "uniform");
    EXPECT_EQ(beat(silent("m2", -1)).error, ErrorCode::none);
    EXPECT_EQ(describe_consumer().assignor, "range");
}

TEST_F(ConsumerHeartbeat, EverythingSurvivesARestart) {
    join_and_follow(joining("m1"));
    advance_ms(1'000);
    join_and_follow(joining("m2"));
    settle();
    const std::string before = coordinator_->dump();
    crash_and_restart();
    EXPECT_EQ(coordinator_->dump(), before);
    settle();
    EXPECT_EQ(coordinator_->dump(), before);
}

struct SmallConsumerGroups : ConsumerFixture {
    SmallConsumerGroups() : ConsumerFixture(group_config_with(&GroupConfig::consumer_max_size, 1)) { set_topic("t", 4); }
};

TEST_F(SmallConsumerGroups, OneMoreMemberIsRefused) {
    beat(joining("m1"));
    const auto result = beat(joining("m2"));
    EXPECT_EQ(result.error, ErrorCode::group_max_size_reached);
    EXPECT_EQ(result.error_message, "The consumer group has reached its maximum capacity of 1 members.");
    EXPECT_EQ(beat(joining("m1")).error, ErrorCode::none);
}

class StaticConsumers : public ConsumerHeartbeat {
  protected:
    static Beat joining_as(const std::string& member, const std::string& instance) {
        Beat beat = joining(member);
        beat.instance = instance;
        return beat;
    }
    static Beat silent_as(const std::string& member, const std::string& instance, std::int32_t epoch) {
        Beat beat = silent(member, epoch);
        beat.instance = instance;
        return beat;
    }
};

TEST_F(StaticConsumers, PlaceIsKeptForWhoComesBack) {
    beat(joining_as("m1", "i1"));
    EXPECT_EQ(beat(silent_as("m1", "i1", -2)).member_epoch, -2);
    const auto back = beat(joining_as("m2", "i1"));
    EXPECT_EQ(back.error, ErrorCode::none);
    EXPECT_EQ(back.member_epoch, 2);
    EXPECT_EQ(back.assignment, partitions("t", {0, 1, 2, 3}));
    EXPECT_EQ(describe_consumer().epoch, 2);
    EXPECT_EQ(describe_consumer().members.size(), 1u);
}

TEST_F(StaticConsumers, DynamicMemberThatTakesANameKeepsWhatItSaidBefore) {
    Beat one = joining("m1");
    one.rack = "r";
    ASSERT_EQ(beat(one).error, ErrorCode::none);
    one.rack.reset();
    one.instance = "one";
    ASSERT_EQ(beat(one).error, ErrorCode::none);
    const auto members = describe_consumer().members;
    ASSERT_EQ(members.size(), 1u);
    EXPECT_EQ(members[0].instance_id, "one");
    EXPECT_EQ(members[0].rack_id, "r");
}

TEST_F(StaticConsumers, PlaceInUseIsRefused) {
    beat(joining_as("m1", "i1"));
    const auto result = beat(joining_as("m2", "i1"));
    EXPECT_EQ(result.error, ErrorCode::unreleased_instance_id);
    EXPECT_EQ(result.error_message,
              "Static member m2 with instance id i1 cannot join the group because the instance id is owned by m1 member.");
}

TEST_F(StaticConsumers, OthersAreFencedByTheHolder) {
    beat(joining_as("m1", "i1"));
    const auto result = beat(silent_as("m2", "i1", 2));
    EXPECT_EQ(result.error, ErrorCode::fenced_instance_id);
    EXPECT_EQ(result.error_message, "Static member m2 with instance id i1 was fenced by member m1.");
    const auto unknown = beat(silent_as("m1", "i2", 2));
    EXPECT_EQ(unknown.error, ErrorCode::unknown_member_id);
    EXPECT_EQ(unknown.error_message, "Instance id i2 is unknown.");
}

TEST_F(StaticConsumers, PlaceIsGivenUpAfterASession) {
    beat(joining_as("m1", "i1"));
    advance_ms(1'000);
    beat(joining("m2"));
    beat(silent_as("m1", "i1", -2));
    advance_ms(30'000);
    EXPECT_EQ(beat(silent("m2", 3)).assignment, std::nullopt);
    advance_ms(15'000);
    EXPECT_EQ(beat(silent("m2", 3)).assignment, partitions("t", {0, 1, 2, 3}));
}

class RegexConsumers : public ConsumerFixture {
  protected:
    RegexConsumers() {
        set_topic("logs-a", 1);
        set_topic("logs-b", 1);
        set_topic("other", 1);
        advance_ms(1'000);
    }
    static Beat joining_for(const std::string& member, const std::string& regex) {
        Beat beat = joining(member);
        beat.topics.reset();
        beat.regex = regex;
        return beat;
    }
};

TEST_F(RegexConsumers, TopicsAreKnownAtTheSecondHeartbeat) {
    const auto first = beat(joining_for("m1", "logs-.*"));
    EXPECT_EQ(first.member_epoch, 1);
    EXPECT_EQ(first.assignment, Assignment());
    const auto second = beat(silent("m1", 1));
    EXPECT_EQ(second.member_epoch, 2);
    EXPECT_EQ(second.assignment, (Assignment{{id_of("logs-a"), {0}}, {id_of("logs-b"), {0}}}));
    EXPECT_EQ(describe_consumer().members.at(0).topic_regex, "logs-.*");
}

TEST_F(RegexConsumers, WholeNameHasToMatch) {
    beat(joining_for("m1", "logs"));
    EXPECT_EQ(beat(silent("m1", 1)).assignment, std::nullopt);
}

TEST_F(RegexConsumers, NewTopicIsFoundButNotMoreOftenThanEveryTenSeconds) {
    beat(joining_for("m1", "logs-.*"));
    beat(silent("m1", 1));
    advance_ms(5'000);
    set_topic("logs-c", 1);
    beat(silent("m1", 2));
    EXPECT_EQ(beat(silent("m1", 2)).assignment, std::nullopt);
    advance_ms(5'001);
    beat(silent("m1", 2));
    EXPECT_EQ(partition_count(beat(silent("m1", 2)).assignment.value_or(Assignment())), 3u);
}

TEST_F(RegexConsumers, SecondMemberWithAKnownExpressionIsAssignedAtOnce) {
    beat(joining_for("m1", "logs-.*"));
    beat(silent("m1", 1));
    advance_ms(1'000);
    EXPECT_EQ(beat(joining_for("m2", "logs-.*")).member_epoch, 3);
}

TEST_F(RegexConsumers, ExpressionGoesWithItsLastMember) {
    beat(joining_for("m1", "logs-.*"));
    beat(silent("m1", 1));
    EXPECT_THAT(coordinator_->dump(), HasSubstr("regex 'logs-.*'"));
    beat(silent("m1", -1));
    EXPECT_THAT(coordinator_->dump(), ::testing::Not(HasSubstr("regex 'logs-.*' version")));
    const std::string before = coordinator_->dump();
    crash_and_restart();
    EXPECT_EQ(coordinator_->dump(), before);
}

/// A filter that knows all topics but one, and notes which it was asked about.
class AllButOne final : public TopicFilter {
  public:
    explicit AllButOne(std::string hidden) : hidden_(std::move(hidden)) {}
    bool has(std::string_view topic) const override {
        asked.emplace_back(topic);
        return topic != hidden_;
    }

    mutable std::vector<std::string> asked;

  private:
    std::string hidden_;
};

TEST_F(RegexConsumers, AnExpressionNamesNoTopicThatItsMemberMayNotDescribe) {
    const AllButOne filter("logs-b");
    Beat first = joining_for("m1", "logs-.*");
    first.may_describe = &filter;
    beat(first);
    EXPECT_EQ(beat(silent("m1", 1)).assignment, partitions("logs-a", {0}));
    EXPECT_THAT(filter.asked, ::testing::ElementsAre("logs-a", "logs-b")) << "topics that no expression matches are no question";
}

TEST_F(RegexConsumers, WhoeverHasExpressionsResolvedDecidesForAllOfTheGroup) {
    beat(joining_for("m1", "logs-.*"));
    ASSERT_EQ(partition_count(beat(silent("m1", 1)).assignment.value_or(Assignment())), 2u);
    advance_ms(10'001);
    const AllButOne filter("logs-b");
    Beat second = joining_for("m2", "logs-[b]|other");
    second.may_describe = &filter;
    beat(second);
    EXPECT_THAT(coordinator_->dump(), HasSubstr("regex 'logs-.*'"));
    EXPECT_THAT(coordinator_->dump(), ::testing::Not(HasSubstr("logs-b")));
}

TEST_F(RegexConsumers, SubscribedTopicsKeepTheirOffsets) {
    beat(joining_for("m1", "logs-.*"));
    beat(silent("m1", 1));
    EXPECT_EQ(delete_offsets("g", "logs-a", {0}).topics.at(0).partitions.at(0).error, ErrorCode::group_subscribed_to_topic);
    EXPECT_EQ(delete_offsets("g", "other", {0}).topics.at(0).partitions.at(0).error, ErrorCode::none);
}

class ConsumerOffsets : public ConsumerHeartbeat {
  protected:
    OffsetCommitResult commit_as(const std::string& member, std::int32_t epoch, std::int32_t partition,
                                 std::int16_t version = 9) {
        return commit({.member = member,
                       .generation = epoch,
                       .topic = "t",
                       .topic_id = id_of("t"),
                       .offsets = {{partition, 5}},
                       .version = version});
    }
    OffsetFetchResult::Group fetch_as(const std::string& member, std::int32_t epoch) {
        const PartitionIndex zero{0};
        const OffsetFetch::Topic topic{"t", id_of("t"), {&zero, 1}};
        const OffsetFetch::Group one{.group_id = "g",
                                     .member_id = member,
                                     .member_epoch = epoch,
                                     .topics = std::span<const OffsetFetch::Topic>(&topic, 1)};
        return fetch_groups({&one, 1}).groups.at(0);
    }
};

TEST_F(ConsumerOffsets, MemberCommitsInItsEpoch) {
    beat(joining("m1"));
    EXPECT_EQ(commit_as("m1", 2, 0).error, ErrorCode::none);
    EXPECT_EQ(committed("t", 0), 5);
    EXPECT_EQ(commit_as("m1", 3, 0).error, ErrorCode::stale_member_epoch);
    EXPECT_EQ(commit_as("m2", 2, 0).error, ErrorCode::unknown_member_id);
    EXPECT_EQ(commit_as("", -1, 0).error, ErrorCode::unknown_member_id);
    EXPECT_EQ(commit_as("m1", 2, 0, 8).error, ErrorCode::unsupported_version);
}

TEST_F(ConsumerOffsets, OlderEpochIsAcceptedForPartitionsHeldSinceThen) {
    join_and_follow(joining("m1"));
    advance_ms(1'000);
    join_and_follow(joining("m2"));
    settle();
    ASSERT_EQ(followed_["m1"].epoch, 3);
    EXPECT_EQ(commit_as("m1", 2, 0).error, ErrorCode::none);
    EXPECT_EQ(commit_as("m1", 2, 3).error, ErrorCode::stale_member_epoch);
    EXPECT_EQ(commit_as("m1", 1, 0).error, ErrorCode::stale_member_epoch);
    EXPECT_EQ(commit_as("m2", 2, 3).error, ErrorCode::stale_member_epoch);
}

TEST_F(ConsumerOffsets, ReadersInTheGroupSayTheirEpoch) {
    beat(joining("m1"));
    EXPECT_EQ(fetch_as("m1", 2).error, ErrorCode::none);
    EXPECT_EQ(fetch_as("m1", 1).error, ErrorCode::stale_member_epoch);
    EXPECT_EQ(fetch_as("m2", 2).error, ErrorCode::unknown_member_id);
    EXPECT_EQ(fetch("g", "t", {0}).error, ErrorCode::none);
}

TEST_F(ConsumerOffsets, EmptyGroupTakesOffsetsOfAnybody) {
    beat(joining("m1"));
    beat(silent("m1", -1));
    EXPECT_EQ(commit_as("", -1, 0).error, ErrorCode::none);
    EXPECT_EQ(delete_group("g"), ErrorCode::none);
    EXPECT_EQ(coordinator_->dump(), "");
    crash_and_restart();
    EXPECT_EQ(coordinator_->dump(), "");
}

TEST_F(ConsumerOffsets, GroupIsListedAndDescribedAsWhatItIs) {
    beat(joining("m1"));
    EXPECT_THAT(list(), ElementsAre("g consumer Stable consumer"));
    EXPECT_THAT(list({}, {"Classic"}), ElementsAre());
    EXPECT_THAT(list({"stable"}, {"Consumer"}), ElementsAre("g consumer Stable consumer"));
    const auto classic = describe("g");
    EXPECT_EQ(classic.error, ErrorCode::group_id_not_found);
    EXPECT_EQ(classic.error_message, "Group g is not a classic group.");
    EXPECT_EQ(describe("g", 5).error, ErrorCode::none);
    EXPECT_EQ(describe("g", 5).state, GroupState::dead);
    EXPECT_EQ(describe_consumer("h").error_message, "Group h not found.");
    EXPECT_EQ(delete_group("g"), ErrorCode::non_empty_group);
}

TEST_F(ConsumerOffsets, OffsetsOfUnsubscribedTopicsExpire) {
    set_topic("u", 1);
    Beat both = joining("m1", {"t", "u"});
    beat(both);
    commit_as("m1", 2, 0);
    commit({.member = "m1", .generation = 2, .topic = "u", .topic_id = id_of("u"), .offsets = {{0, 9}}});
    Beat less = silent("m1", 2);
    less.topics = std::vector<std::string>{"t"};
    std::int32_t epoch = beat(less).member_epoch;
    for (std::int64_t waited = 0; waited <= config_.offsets_retention_ms + 600'000; waited += 40'000) {
        advance_ms(40'000);
        epoch = beat(owning("m1", epoch, partitions("t", {0, 1, 2, 3}))).member_epoch;
    }
    EXPECT_EQ(committed("u", 0), -1);
    EXPECT_EQ(committed("t", 0), 5);
}

}  // namespace
}  // namespace partita::groups::testing
