#include <algorithm>
#include <array>

#include "broker/groups/consumer_protocol.h"
#include "broker/groups/group_queries.h"
#include "tests/unit/groups/group_fixture.h"

namespace partita::groups::testing {
namespace {

class Readers : public GroupFixture {
  protected:
    std::vector<TopicReader> readers(std::string_view topic = "topic", TopicId id = topic_id(1)) {
        return coordinator_->queries().readers_of(topic, id);
    }
    void seed(std::string_view group, std::int32_t first, std::int32_t end, TopicId id = topic_id(1)) {
        const std::string metadata = seed_metadata(1);
        run([&](Effects& effects) { coordinator_->seed_offsets({group, "topic", id, {first}, {end}, metadata}, now_, effects); },
            {});
    }
    std::size_t remove_seeds(std::string_view group, std::int32_t first, std::int32_t end) {
        const std::string metadata = seed_metadata(1);
        std::size_t removed = 0;
        run(
            [&](Effects& effects) {
                removed = coordinator_->remove_seeds({group, "topic", topic_id(1), {first}, {end}, metadata}, effects);
            },
            {});
        return removed;
    }
};

TEST_F(Readers, GroupThatOnlyCommitsReadsTheTopic) {
    commit({.topic_id = topic_id(1), .offsets = {{0, 5}, {2, 9}}});
    ASSERT_EQ(readers().size(), 1U);
    EXPECT_EQ(readers()[0].group_id, "g");
    EXPECT_FALSE(readers()[0].is_subscribed());
    EXPECT_EQ(readers()[0].committed.at(PartitionIndex{2}), Offset{9});
    EXPECT_TRUE(readers("other").empty());
}

TEST_F(Readers, CommitsUnderAnotherTopicIdDoNotCount) {
    commit({.topic_id = topic_id(2)});
    EXPECT_TRUE(readers().empty());
}

TEST_F(Readers, MemberThatHasYetToJoinAGenerationIsSubscribed) {
    const std::string id = fresh_id();
    join({.id = id});
    ASSERT_EQ(readers().size(), 1U);
    EXPECT_TRUE(readers()[0].is_subscribed());
}

TEST_F(Readers, ATopicOfWhichAMemberHasNothingYetIsToldToo) {
    coordinator_->cluster_changed(TestCluster().with("topic", 4), true);
    const std::string id = fresh_id();
    join({.id = id});
    const std::optional<MemberHoldings> held = coordinator_->queries().holdings_of("g", id);
    ASSERT_TRUE(held);
    ASSERT_EQ(held->topics.size(), 1U);
    EXPECT_EQ(held->topics[0].name, "topic");
    EXPECT_TRUE(held->topics[0].partitions.empty());
}

TEST_F(Readers, WhatAMemberHasIsToldTopicByTopic) {
    coordinator_->cluster_changed(TestCluster().with("topic", 4), true);
    const std::string id = fresh_id();
    const ReplyToken joining = join({.id = id});
    advance_ms(config_.initial_rebalance_delay_ms);
    sync(id, joined(joining).generation.value, {{id, assignment_of({{"gone", {7}}, {"topic", {3, 1}}})}});
    const std::optional<MemberHoldings> held = coordinator_->queries().holdings_of("g", id);
    ASSERT_TRUE(held);
    EXPECT_EQ(held->client_id, "client");
    EXPECT_EQ(held->client_host, "/127.0.0.1");
    ASSERT_EQ(held->topics.size(), 1U) << "a topic that does not exist is nothing to have";
    EXPECT_EQ(held->topics[0].name, "topic");
    EXPECT_EQ(held->topics[0].partitions, (std::vector<PartitionIndex>{{1}, {3}}));
    EXPECT_FALSE(coordinator_->queries().holdings_of("g", "nobody"));
    EXPECT_FALSE(coordinator_->queries().holdings_of("other", id));
}

TEST_F(Readers, WhatAGroupCommittedInATopicIsToldAlone) {
    commit({.topic_id = topic_id(1), .offsets = {{0, 5}, {2, 9}}});
    EXPECT_EQ(coordinator_->queries().committed_in("g", "topic", topic_id(1)),
              (std::map<PartitionIndex, Offset>{{{0}, Offset{5}}, {{2}, Offset{9}}}));
    EXPECT_TRUE(coordinator_->queries().committed_in("g", "topic", topic_id(2)).empty());
    EXPECT_TRUE(coordinator_->queries().committed_in("g", "other", topic_id(1)).empty());
    EXPECT_TRUE(coordinator_->queries().committed_in("nobody", "topic", topic_id(1)).empty());
}

TEST_F(Readers, MembersAreNamedWithTheirClientAndTheirPartitions) {
    const std::string id = fresh_id();
    const ReplyToken joining = join({.id = id});
    advance_ms(config_.initial_rebalance_delay_ms);
    const std::int32_t generation = joined(joining).generation.value;
    sync(id, generation, {{id, assignment_of({{"other", {7}}, {"topic", {3, 1}}})}});
    ASSERT_EQ(readers().size(), 1U);
    const TopicReader::Member member = readers()[0].members.at(0);
    EXPECT_EQ(member.client_id, "client");
    EXPECT_EQ(member.client_host, "/127.0.0.1");
    EXPECT_EQ(member.assigned, (std::vector<PartitionIndex>{{1}, {3}}));
    EXPECT_EQ(readers()[0].protocol, "range");
    crash_and_restart();
    EXPECT_EQ(readers()[0].members.at(0).assigned, (std::vector<PartitionIndex>{{1}, {3}}));
}

TEST_F(Readers, TheProtocolOfAGroupIsKnownByItsIdAlone) {
    EXPECT_EQ(coordinator_->queries().protocol_of("g"), std::nullopt);
    commit({.topic_id = topic_id(1)});
    EXPECT_EQ(coordinator_->queries().protocol_of("g"), "");
    stable_group(1, {.type = "consumer", .protocols = {{"stream", subscription_to({"topic"})}}});
    EXPECT_EQ(coordinator_->queries().protocol_of("g"), "stream");
}

TEST_F(Readers, GroupOfAnotherProtocolTypeReadsNothingByMembership) {
    stable_group(1, {.type = "connect", .protocols = {{"default", subscription_to({"topic"})}}});
    EXPECT_TRUE(readers().empty());
}

TEST(ReadHoldings, IsNothingForBytesThatAreNoAssignment) {
    Holdings holdings;
    read_holdings(as_bytes(assignment_of({{"topic", {2, 1, 2}}})), holdings);
    ASSERT_EQ(holdings.topics().size(), 1U);
    EXPECT_TRUE(std::ranges::equal(holdings.partitions_of(holdings.topics()[0]), std::vector<PartitionIndex>{{1}, {2}}));
    read_holdings(as_bytes("not an assignment"), holdings);
    EXPECT_TRUE(holdings.topics().empty());
    read_holdings({}, holdings);
    EXPECT_TRUE(holdings.topics().empty());
    std::string torn = assignment_of({{"topic", {1, 2}}});
    torn.resize(torn.size() - 5);
    read_holdings(as_bytes(torn), holdings);
    EXPECT_TRUE(holdings.topics().empty());
}

/// Topics of two partitions, and one of three.
class Joined : public Readers {
  protected:
    void SetUp() override {
        Readers::SetUp();
        std::shared_ptr<const TestCluster> cluster = std::make_shared<TestCluster>();
        for (const char* name : {"topic", "beside", "also", "other"}) {
            cluster = cluster->with(name, 2);
        }
        coordinator_->cluster_changed(cluster->with("wide", 3), true);
        const std::string id = fresh_id();
        const ReplyToken joining =
            join({.id = id, .protocols = {{"range", subscription_to({"topic", "beside", "also", "other", "wide", "gone"})}}});
        advance_ms(config_.initial_rebalance_delay_ms);
        sync(id, joined(joining).generation.value,
             {{id, assignment_of({{"topic", {0, 1}}, {"beside", {1, 0}}, {"wide", {0, 1}}, {"other", {0}}, {"also", {0, 1}}})}});
    }
    [[nodiscard]] TopicReader ask(TopicQuestion::Others others, std::size_t aligned_max, std::int32_t count = 2) {
        TopicQuestion question{
            .topic = "topic", .topic_id = topic_id(1), .others = others, .partition_count = count, .aligned_max = aligned_max};
        return coordinator_->queries().readers_of({&question, 1}).at(0).at(0);
    }
    [[nodiscard]] static std::string told(const TopicReader& reader) {
        std::string text;
        for (const TopicReader::OtherTopic& other : reader.other_topics) {
            text += other.name + (other.is_aligned ? "=" : "-") + std::to_string(other.partition_count) + " ";
        }
        return text;
    }
};

TEST_F(Joined, EveryOtherTopicThatExistsIsToldWithWhetherItIsHeldAlike) {
    EXPECT_EQ(told(ask(TopicQuestion::Others::all, 0)), "also=2 beside=2 other-2 wide-3 ");
}

TEST_F(Joined, WithOnePartitionNothingIsAlignedButByAccident) {
    EXPECT_EQ(told(ask(TopicQuestion::Others::all, 0, 1)), "also-2 beside-2 other-2 wide-3 ");
    EXPECT_EQ(told(ask(TopicQuestion::Others::aligned, 10, 1)), "");
}

TEST_F(Joined, AlignedTopicsAreToldUpToABoundAndOneOfEachGroup) {
    EXPECT_EQ(told(ask(TopicQuestion::Others::aligned, 10)), "also=2 beside=2 ");
    EXPECT_EQ(ask(TopicQuestion::Others::aligned, 1).other_topics.size(), 1U);
    EXPECT_EQ(ask(TopicQuestion::Others::aligned, 0).other_topics.size(), 1U);
    EXPECT_EQ(told(ask(TopicQuestion::Others::none, 10)), "");
}

TEST_F(Joined, OfTopicsThatFindNoRoomTheAnswerSaysSo) {
    EXPECT_FALSE(ask(TopicQuestion::Others::aligned, 2).has_more_aligned);
    EXPECT_TRUE(ask(TopicQuestion::Others::aligned, 1).has_more_aligned);
    EXPECT_TRUE(ask(TopicQuestion::Others::aligned, 0).reads_others);
    EXPECT_FALSE(ask(TopicQuestion::Others::none, 0).reads_others);
}

TEST_F(Joined, WhatIsAskedForOfAGroupIsToldBesidesWhatIsAligned) {
    const std::vector<std::pair<std::string_view, std::string_view>> besides = {
        {"f", "wide"}, {"g", "also"}, {"g", "gone"}, {"g", "other"}, {"g", "topic"}, {"g", "unread"}, {"h", "wide"}};
    TopicQuestion question{.topic = "topic",
                           .topic_id = topic_id(1),
                           .others = TopicQuestion::Others::aligned,
                           .partition_count = 2,
                           .aligned_max = 10,
                           .besides = besides};
    EXPECT_EQ(told(coordinator_->queries().readers_of({&question, 1}).at(0).at(0)), "also=2 beside=2 other-2 ");
}

TEST_F(Joined, SeveralQuestionsAreAnsweredInTheirOrder) {
    std::array<TopicQuestion, 3> questions{{{.topic = "other", .topic_id = topic_id(2)},
                                            {.topic = "nobody-reads-it", .topic_id = topic_id(3)},
                                            {.topic = "topic", .topic_id = topic_id(1)}}};
    const auto answers = coordinator_->queries().readers_of(questions);
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_EQ(answers[0].at(0).members.at(0).assigned, std::vector<PartitionIndex>{{0}});
    EXPECT_TRUE(answers[1].empty());
    EXPECT_EQ(answers[2].at(0).members.at(0).assigned, (std::vector<PartitionIndex>{{0}, {1}}));
}

TEST_F(Readers, AGroupThatHasNothingToDoWithTheTopicIsNotLookedAt) {
    for (int number = 0; number < 50; ++number) {
        commit({.group = "g" + std::to_string(number), .topic = "other"});
    }
    commit({.group = "reader", .topic_id = topic_id(1)});
    EXPECT_EQ(readers().size(), 1U);
    const std::uint64_t before = coordinator_->queries().groups_visited();
    EXPECT_EQ(readers().size(), 1U);
    EXPECT_EQ(coordinator_->queries().groups_visited() - before, 1U);
    EXPECT_TRUE(readers("nobody-reads-it", topic_id(3)).empty());
    EXPECT_EQ(coordinator_->queries().groups_visited() - before, 1U);
    EXPECT_EQ(readers("other", topic_id(2)).size(), 50U);
}

TEST_F(Readers, ACommitToAKnownTopicMakesNobodyLookAtTheGroupAgain) {
    commit({.topic_id = topic_id(1), .offsets = {{0, 5}}});
    EXPECT_EQ(readers("other").size(), 0U);
    const std::uint64_t before = coordinator_->queries().groups_visited();
    commit({.topic_id = topic_id(1), .offsets = {{0, 6}, {1, 7}}});
    EXPECT_EQ(readers("other").size(), 0U);
    EXPECT_EQ(coordinator_->queries().groups_visited(), before);
    EXPECT_EQ(readers().at(0).committed.at(PartitionIndex{1}), Offset{7});
}

TEST_F(Readers, WhoStopsToReadIsForgottenAtOnce) {
    commit({.topic_id = topic_id(1)});
    commit({.group = "deleted", .topic_id = topic_id(1)});
    commit({.group = "of-deleted-topic", .topic = "gone", .topic_id = topic_id(2)});
    EXPECT_EQ(readers().size(), 2U);
    EXPECT_EQ(readers("gone", topic_id(2)).size(), 1U);
    EXPECT_EQ(delete_group("deleted"), ErrorCode::none);
    delete_offsets("g", "topic", {0});
    delete_topic("gone", topic_id(2));
    EXPECT_TRUE(readers().empty());
    EXPECT_TRUE(readers("gone", topic_id(2)).empty());
    commit({.topic_id = topic_id(1)});
    EXPECT_EQ(readers().size(), 1U);
    advance_ms(config_.offsets_retention_ms + config_.offsets_retention_check_interval_ms);
    EXPECT_TRUE(readers().empty());
}

TEST_F(Readers, AMemberThatSubscribesAnewOrLeavesIsSeenAtTheNextLook) {
    const std::string id = stable_group(1).front();
    EXPECT_EQ(readers().size(), 1U);
    EXPECT_TRUE(readers("another").empty());
    const ReplyToken joining = join({.id = id, .protocols = {{"range", subscription_to({"another"})}}});
    EXPECT_TRUE(readers().empty());
    EXPECT_EQ(readers("another").size(), 1U);
    sync(id, joined(joining).generation.value, {{id, assignment_of({{"topic", {2}}})}});
    EXPECT_EQ(readers().size(), 1U) << "it holds what it does not subscribe to";
    EXPECT_EQ(leave(id), ErrorCode::none);
    EXPECT_TRUE(readers().empty());
    EXPECT_TRUE(readers("another").empty());
}

TEST_F(Readers, TheIndexAndAskingEveryGroupAgreeAboutManyGroups) {
    for (int number = 0; number < 40; ++number) {
        const std::string group = "g" + std::to_string(number);
        for (int topic = number % 7; topic < 12; topic += 1 + number % 3) {
            commit({.group = group, .topic = "topic-" + std::to_string(topic), .offsets = {{number % 4, number}}});
        }
        if (number % 5 == 0) {
            EXPECT_EQ(delete_group("g" + std::to_string(number / 2)), ErrorCode::none);
        }
        std::vector<std::string> names;
        for (int topic = 0; topic < 12; ++topic) {
            names.push_back("topic-" + std::to_string(topic));
        }
        std::vector<TopicQuestion> questions;
        for (const std::string& name : names) {
            questions.push_back({.topic = name, .others = TopicQuestion::Others::all});
        }
        ASSERT_EQ(coordinator_->queries().readers_of(questions), coordinator_->queries().readers_by_asking_all(questions))
            << number;
    }
}

TEST_F(Readers, SeedCommitsZeroForTheNewPartitionsAndSurvivesACrash) {
    commit({.topic_id = topic_id(1)});
    seed("g", 6, 8);
    crash_and_restart();
    const auto fetched = fetch("g", "topic", {5, 6, 7, 8}, topic_id(1)).topics.at(0).partitions;
    EXPECT_EQ(fetched[0].offset.value, -1);
    EXPECT_EQ(fetched[1].offset.value, 0);
    EXPECT_EQ(fetched[1].leader_epoch.value, 0);
    EXPECT_EQ(fetched[1].metadata, "seeded by expansion 1");
    EXPECT_EQ(fetched[2].offset.value, 0);
    EXPECT_EQ(fetched[3].offset.value, -1);
}

TEST_F(Readers, SeedNeverOverwritesACommit) {
    commit({.topic_id = topic_id(1), .offsets = {{6, 42}}});
    seed("g", 6, 8);
    EXPECT_EQ(committed("topic", 6), 42);
    EXPECT_EQ(committed("topic", 7), 0);
    const std::size_t records = log_.size();
    seed("g", 6, 8);
    EXPECT_EQ(log_.size(), records);
}

TEST_F(Readers, SeedReplacesAnOffsetOfADeletedTopicOfThatName) {
    commit({.topic_id = topic_id(2), .offsets = {{6, 42}}});
    seed("g", 6, 7);
    EXPECT_EQ(committed("topic", 6), 0);
}

TEST_F(Readers, SeedsExpireLikeAnyCommit) {
    commit({.topic_id = topic_id(1)});
    seed("g", 6, 7);
    advance_ms(config_.offsets_retention_ms + config_.offsets_retention_check_interval_ms);
    EXPECT_EQ(coordinator_->offset_count(), 0U);
}

TEST_F(Readers, OnlySeedsThatNobodyCommittedOverAreTakenBack) {
    commit({.topic_id = topic_id(1)});
    seed("g", 6, 9);
    commit({.topic_id = topic_id(1), .offsets = {{7, 3}}});
    EXPECT_EQ(remove_seeds("g", 6, 9), 2U);
    EXPECT_EQ(committed("topic", 6), -1);
    EXPECT_EQ(committed("topic", 7), 3);
    EXPECT_EQ(committed("topic", 0), 7);
    EXPECT_EQ(remove_seeds("g", 6, 9), 0U);
    crash_and_restart();
    EXPECT_EQ(committed("topic", 8), -1);
}

TEST_F(Readers, SeedsOverWhichATransactionCommitsStay) {
    commit({.topic_id = topic_id(1)});
    seed("g", 6, 9);
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{6, 5}}}).error, ErrorCode::none);
    ASSERT_EQ(commit_in_transaction(2, {.offsets = {{7, 5}}}).error, ErrorCode::none);
    EXPECT_EQ(remove_seeds("g", 6, 9), 1U);
    end_transaction(1, true);
    EXPECT_EQ(committed("topic", 6), 5) << "what was committed meanwhile is not lost";
    end_transaction(2, false);
    EXPECT_EQ(committed("topic", 7), 0);
    EXPECT_EQ(committed("topic", 8), -1);
}

}  // namespace
}  // namespace partita::groups::testing
