// Tests who leads, who is in sync and who has what in a cluster of brokers, by the rules of Kafka's controller.

#include "broker/addons/faults/core/cluster.h"

#include <gmock/gmock.h>

#include <map>

#include "broker/addons/faults/core/cluster_file.h"

namespace partita::faults {
namespace {

using catalog::Election;
using catalog::PartitionPlace;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr BrokerId k1{1};
constexpr BrokerId k2{2};
constexpr BrokerId k3{3};
constexpr std::int64_t kSessionMs = 9000;
constexpr Instant kStart{1000};
constexpr TopicId kTopic{};

using Ids = std::vector<BrokerId>;

class ClusterTest : public ::testing::Test {
  protected:
    /// One partition with these replicas, the first of which leads.
    void place(Ids replicas) {
        const std::vector<Ids> assignments{std::move(replicas)};
        cluster_.place({.topic = kTopic, .partition_count = 1, .assignments = assignments});
    }
    [[nodiscard]] const PartitionPlace& partition(std::size_t index = 0) { return partition_at(kNoBroker, index); }
    [[nodiscard]] const PartitionPlace& partition_at(BrokerId asked, std::size_t index = 0) {
        seen_ = cluster_.place_known_at(asked, kTopic);
        return seen_->at(index);
    }
    void kill(BrokerId broker) { ASSERT_TRUE(cluster_.kill(broker, true, kStart)); }
    void restart(BrokerId broker) { ASSERT_TRUE(cluster_.restart(broker)); }
    [[nodiscard]] ErrorCode elect(Election election) {
        Cluster::Effects effects;
        return cluster_.elect(kTopic, PartitionIndex{0}, election, effects).code;
    }
    [[nodiscard]] catalog::CatalogError reassign(std::optional<Ids> target, bool may_change_factor = true) {
        Cluster::Effects effects;
        return cluster_.reassign(kTopic, PartitionIndex{0}, target, may_change_factor, effects);
    }

    std::int32_t min_isr_ = 1;
    Cluster cluster_{{.brokers = {{.id = k1, .rack = "a"}, {.id = k2, .rack = "b"}, {.id = k3, .rack = "b"}},
                      .session_timeout_ms = kSessionMs,
                      .min_insync_replicas = [this](const TopicId&) { return min_isr_; }}};
    std::shared_ptr<const catalog::TopicPlace> seen_;
};

TEST_F(ClusterTest, PartitionsGoRoundAllBrokersAndRacks) {
    cluster_.place({.topic = kTopic, .partition_count = 6, .replication_factor = 2});
    std::map<BrokerId, int> leaders;
    for (std::size_t index = 0; index < 6; ++index) {
        const PartitionPlace place = partition(index);
        ++leaders[place.leader];
        EXPECT_EQ(place.leader, place.replicas.front());
        EXPECT_EQ(place.isr, place.replicas);
        EXPECT_EQ(place.leader_epoch, LeaderEpoch{0});
        ASSERT_EQ(place.replicas.size(), 2U);
        EXPECT_TRUE((place.replicas[0] == k1) != (place.replicas[1] == k1)) << "one replica in each rack";
    }
    EXPECT_THAT(leaders, UnorderedElementsAre(std::pair(k1, 2), std::pair(k2, 2), std::pair(k3, 2)));
}

TEST_F(ClusterTest, AllBrokersHaveAPartitionWithAsManyReplicas) {
    cluster_.place({.topic = kTopic, .partition_count = 1, .replication_factor = 3});
    EXPECT_THAT(partition().replicas, UnorderedElementsAre(k1, k2, k3));
}

TEST_F(ClusterTest, NewPartitionsLeaveTheOldOnes) {
    place({k2, k3});
    cluster_.place({.topic = kTopic, .first = 1, .partition_count = 3, .replication_factor = 2});
    EXPECT_THAT(partition(0).replicas, ElementsAre(k2, k3));
    EXPECT_EQ(seen_->size(), 3U);
    EXPECT_EQ(partition(2).replicas.size(), 2U);
}

TEST_F(ClusterTest, ADeadBrokerLeadsNoNewPartition) {
    kill(k2);
    cluster_.place({.topic = kTopic, .partition_count = 6, .replication_factor = 3});
    for (std::size_t index = 0; index < 6; ++index) {
        EXPECT_NE(partition(index).leader, k2);
        EXPECT_THAT(partition(index).replicas, UnorderedElementsAre(k1, k2, k3));
        EXPECT_THAT(partition(index).isr, UnorderedElementsAre(k1, k3));
    }
}

TEST_F(ClusterTest, AfterAKillTheNextReplicaInSyncLeadsInANewEpoch) {
    place({k1, k3, k2});
    const auto killed = cluster_.kill(k1, true, kStart);
    ASSERT_TRUE(killed);
    EXPECT_THAT(killed->topics, ElementsAre(kTopic));
    EXPECT_TRUE(killed->are_nodes_changed);
    EXPECT_EQ(partition(), (PartitionPlace{.leader = k3, .leader_epoch = {1}, .replicas = {k1, k3, k2}, .isr = {k3, k2}}));
}

TEST_F(ClusterTest, AFollowerThatDiesLeavesTheEpoch) {
    place({k1, k2});
    kill(k2);
    EXPECT_EQ(partition(), (PartitionPlace{.leader = k1, .leader_epoch = {0}, .replicas = {k1, k2}, .isr = {k1}}));
}

TEST_F(ClusterTest, ARestartedBrokerIsInSyncAgainButDoesNotLead) {
    place({k1, k2});
    kill(k1);
    restart(k1);
    EXPECT_EQ(partition(), (PartitionPlace{.leader = k2, .leader_epoch = {1}, .replicas = {k1, k2}, .isr = {k1, k2}}));
}

TEST_F(ClusterTest, APreferredElectionGivesTheFirstReplicaTheLeadBack) {
    place({k1, k2});
    EXPECT_EQ(elect(Election::preferred), ErrorCode::election_not_needed);
    kill(k1);
    EXPECT_EQ(elect(Election::preferred), ErrorCode::preferred_leader_not_available);
    restart(k1);
    EXPECT_EQ(elect(Election::preferred), ErrorCode::none);
    EXPECT_EQ(partition().leader, k1);
    EXPECT_EQ(partition().leader_epoch, LeaderEpoch{2});
}

TEST_F(ClusterTest, WithoutALivingReplicaInSyncNobodyLeads) {
    place({k1, k2});
    kill(k2);
    kill(k1);
    EXPECT_EQ(partition(), (PartitionPlace{.leader = kNoBroker,
                                           .leader_epoch = {1},
                                           .replicas = {k1, k2},
                                           .isr = {},
                                           .eligible = {k1},
                                           .last_known_eligible = {k1}}));
    EXPECT_EQ(elect(Election::unclean), ErrorCode::eligible_leaders_not_available);
    restart(k2);
    EXPECT_EQ(partition().leader, kNoBroker) << "it lacks what the other one took after its death";
    restart(k1);
    EXPECT_EQ(partition(), (PartitionPlace{.leader = k1, .leader_epoch = {2}, .replicas = {k1, k2}, .isr = {k1, k2}}));
}

TEST_F(ClusterTest, ReplicasBelowTheMinimumStayEligible) {
    min_isr_ = 2;
    place({k1, k2, k3});
    kill(k1);
    EXPECT_THAT(partition().eligible, IsEmpty());
    EXPECT_FALSE(cluster_.lacks_replicas(kTopic, PartitionIndex{0}));
    kill(k2);
    EXPECT_EQ(partition(),
              (PartitionPlace{.leader = k3, .leader_epoch = {2}, .replicas = {k1, k2, k3}, .isr = {k3}, .eligible = {k2}}));
    EXPECT_TRUE(cluster_.lacks_replicas(kTopic, PartitionIndex{0}));
    restart(k2);
    EXPECT_FALSE(cluster_.lacks_replicas(kTopic, PartitionIndex{0}));
    EXPECT_THAT(partition().eligible, IsEmpty());
}

TEST_F(ClusterTest, AMinimumAboveTheNumberOfReplicasCountsAsThatNumber) {
    min_isr_ = 3;
    place({k1});
    EXPECT_FALSE(cluster_.lacks_replicas(kTopic, PartitionIndex{0}));
}

TEST_F(ClusterTest, ADeathThatNobodyNoticesCountsAfterTheSession) {
    place({k1, k2});
    ASSERT_TRUE(cluster_.kill(k1, false, kStart));
    EXPECT_EQ(partition().leader, k1);
    EXPECT_EQ(cluster_.next_deadline(), kStart + kSessionMs);
    EXPECT_THAT(cluster_.tick(kStart + (kSessionMs - 1)).topics, IsEmpty());
    EXPECT_THAT(cluster_.tick(kStart + kSessionMs).topics, ElementsAre(kTopic));
    EXPECT_EQ(partition().leader, k2);
    EXPECT_EQ(cluster_.next_deadline(), std::nullopt);
}

TEST_F(ClusterTest, ABrokerThatRestartsWithinItsSessionLosesItsLead) {
    place({k1, k2});
    ASSERT_TRUE(cluster_.kill(k1, false, kStart));
    restart(k1);
    EXPECT_EQ(partition(), (PartitionPlace{.leader = k2, .leader_epoch = {1}, .replicas = {k1, k2}, .isr = {k1, k2}}));
    EXPECT_EQ(cluster_.next_deadline(), std::nullopt);
}

TEST_F(ClusterTest, APausedBrokerIsFencedAfterItsSessionAndComesBack) {
    place({k1, k2});
    ASSERT_TRUE(cluster_.pause(k1, kStart));
    EXPECT_EQ(partition().leader, k1);
    (void)cluster_.tick(kStart + kSessionMs);
    EXPECT_EQ(partition().leader, k2);
    ASSERT_TRUE(cluster_.resume(k1));
    EXPECT_THAT(partition().isr, ElementsAre(k1, k2));
}

TEST_F(ClusterTest, AShortPauseChangesNothing) {
    place({k1, k2});
    ASSERT_TRUE(cluster_.pause(k1, kStart));
    const auto resumed = cluster_.resume(k1);
    ASSERT_TRUE(resumed);
    EXPECT_THAT(resumed->topics, IsEmpty());
    EXPECT_EQ(cluster_.next_deadline(), std::nullopt);
}

TEST_F(ClusterTest, AnIsolatedBrokerKnowsWhatItKnewUntilItJoins) {
    place({k1, k2});
    ASSERT_TRUE(cluster_.isolate(k1, kStart));
    (void)cluster_.tick(kStart + kSessionMs);
    EXPECT_EQ(partition().leader, k2);
    EXPECT_EQ(partition_at(k2).leader, k2);
    EXPECT_EQ(partition_at(k1).leader, k1);
    EXPECT_FALSE(cluster_.nodes_known_at(k1)->front().is_fenced);
    EXPECT_TRUE(cluster_.nodes_known_at(k2)->front().is_fenced);
    ASSERT_TRUE(cluster_.join(k1));
    EXPECT_EQ(partition_at(k1).leader, k2);
    EXPECT_THAT(partition().isr, ElementsAre(k1, k2));
}

TEST_F(ClusterTest, AnActThatDoesNotFitIsRefused) {
    const auto error = [](const Cluster::Outcome& outcome) { return outcome ? std::string() : outcome.error(); };
    EXPECT_EQ(error(cluster_.kill(BrokerId{7}, true, kStart)), "unknown broker 7; there are 1, 2, 3");
    EXPECT_EQ(error(cluster_.restart(k1)), "cannot restart broker 1: it is up, not killed");
    EXPECT_EQ(error(cluster_.resume(k1)), "cannot resume broker 1: it is up, not paused");
    EXPECT_EQ(error(cluster_.join(k1)), "cannot join broker 1: it is up, not isolated");
    kill(k1);
    EXPECT_EQ(error(cluster_.kill(k1, true, kStart)), "cannot kill broker 1: it is killed, not up");
    EXPECT_EQ(error(cluster_.pause(k1, kStart)), "cannot pause broker 1: it is killed, not up");
}

TEST_F(ClusterTest, APausedBrokerCanBeKilled) {
    place({k1, k2});
    ASSERT_TRUE(cluster_.pause(k1, kStart));
    kill(k1);
    EXPECT_EQ(cluster_.life_of(k1), BrokerLife::killed);
    EXPECT_EQ(partition().leader, k2);
}

TEST_F(ClusterTest, AReassignmentToLivingBrokersIsCompleteAtOnce) {
    place({k1, k2});
    EXPECT_EQ(reassign(Ids{k3, k2}).code, ErrorCode::none);
    EXPECT_EQ(partition(), (PartitionPlace{.leader = k3, .leader_epoch = {1}, .replicas = {k3, k2}, .isr = {k2, k3}}));
    EXPECT_EQ(reassign(std::nullopt).code, ErrorCode::no_reassignment_in_progress);
}

TEST_F(ClusterTest, AReassignmentWaitsForADeadBrokerAndMayBeCancelled) {
    place({k1, k2});
    kill(k3);
    EXPECT_EQ(reassign(Ids{k3, k2}).code, ErrorCode::none);
    EXPECT_THAT(partition().replicas, ElementsAre(k3, k2, k1));
    EXPECT_THAT(partition().adding, ElementsAre(k3));
    EXPECT_THAT(partition().removing, ElementsAre(k1));
    EXPECT_EQ(partition().leader, k1);
    EXPECT_EQ(reassign(std::nullopt).code, ErrorCode::none);
    EXPECT_THAT(partition().replicas, ElementsAre(k2, k1));
    EXPECT_THAT(partition().adding, IsEmpty());
    EXPECT_EQ(reassign(Ids{k3, k2}).code, ErrorCode::none);
    restart(k3);
    EXPECT_THAT(partition().replicas, ElementsAre(k3, k2));
    EXPECT_THAT(partition().removing, IsEmpty());
    EXPECT_NE(partition().leader, k1);
}

TEST_F(ClusterTest, AReassignmentMayKeepTheReplicationFactor) {
    place({k1, k2});
    const catalog::CatalogError refused = reassign(Ids{k1}, false);
    EXPECT_EQ(refused.code, ErrorCode::invalid_replication_factor);
    EXPECT_EQ(refused.message, "The replication factor is changed from 2 to 1");
    EXPECT_EQ(reassign(Ids{k1}, true).code, ErrorCode::none);
    EXPECT_THAT(partition().replicas, ElementsAre(k1));
}

TEST_F(ClusterTest, AConsumerReadsFromTheReplicaInItsRack) {
    place({k1, k2, k3});
    const auto preferred = [&](BrokerId asked, std::string_view rack) {
        return cluster_.preferred_replica(asked, kTopic, PartitionIndex{0}, rack);
    };
    EXPECT_EQ(preferred(k1, "a"), std::nullopt) << "the leader is in that rack";
    EXPECT_EQ(preferred(k1, "b"), k3) << "the highest id of those that caught up";
    EXPECT_EQ(preferred(k1, "c"), std::nullopt);
    EXPECT_EQ(preferred(k1, ""), std::nullopt);
    EXPECT_EQ(preferred(k2, "b"), std::nullopt) << "only the leader sends clients away";
    kill(k3);
    EXPECT_EQ(preferred(k1, "b"), k2);
}

TEST_F(ClusterTest, TheNextProcessHasThePlacesAndEpochsOfTheOneBefore) {
    place({k1, k2});
    kill(k1);
    auto places = decode_places(encode_places(cluster_));
    ASSERT_TRUE(places) << places.error();
    Cluster next({.brokers = {{.id = k1}, {.id = k2}, {.id = k3}}, .min_insync_replicas = [](const TopicId&) { return 1; }});
    const Cluster::NewPartitions all{.topic = kTopic, .partition_count = 2, .replication_factor = 2};
    EXPECT_THAT(next.restore(kTopic, std::move(places->at(kTopic)), all).topics, ElementsAre(kTopic));
    const auto place = next.place_known_at(kNoBroker, kTopic);
    EXPECT_EQ(place->at(0), (PartitionPlace{.leader = k2, .leader_epoch = {1}, .replicas = {k1, k2}, .isr = {k1, k2}}));
    EXPECT_EQ(place->at(1).replicas.size(), 2U) << "a partition that it did not know is placed";
}

TEST_F(ClusterTest, AProcessWithFewerBrokersPlacesWhatTheOthersHad) {
    place({k3, k2});
    auto places = decode_places(encode_places(cluster_));
    ASSERT_TRUE(places);
    Cluster next({.brokers = {{.id = k1}, {.id = k2}}, .min_insync_replicas = [](const TopicId&) { return 1; }});
    (void)next.restore(kTopic, std::move(places->at(kTopic)), {.topic = kTopic, .partition_count = 1, .replication_factor = 1});
    const auto place = next.place_known_at(kNoBroker, kTopic);
    EXPECT_EQ(place->at(0), (PartitionPlace{.leader = k2, .leader_epoch = {1}, .replicas = {k2}, .isr = {k2}}));
}

TEST_F(ClusterTest, DamagedPlacesAreRefusedByTheirLine) {
    EXPECT_EQ(decode_places("").error(), "the first line is not \"partita-brokers 1\"");
    const std::string good = TopicId{}.to_string() + " 0 1 0 1,2 1 -\n";
    EXPECT_TRUE(decode_places("partita-brokers 1\n" + good));
    for (const std::string& bad :
         {std::string("x"), TopicId{}.to_string() + " 1 1 0 1 1 -", TopicId{}.to_string() + " 0 1 -1 1 1 -",
          TopicId{}.to_string() + " 0 1 0 - 1 -", TopicId{}.to_string() + " 0 1 0 1 1 - 7",
          TopicId{}.to_string() + " 0 -2 0 1 1 -", TopicId{}.to_string() + " 0 1 0 1,x 1 -"}) {
        const auto decoded = decode_places("partita-brokers 1\n" + bad + "\n");
        ASSERT_FALSE(decoded) << bad;
        EXPECT_EQ(decoded.error(), "line 2 is damaged");
    }
}

TEST_F(ClusterTest, ABrokerTellsHowManyPartitionsItHas) {
    place({k1, k2});
    const std::vector<Cluster::Broker> brokers = cluster_.brokers();
    ASSERT_EQ(brokers.size(), 3U);
    EXPECT_EQ(brokers[0].leader_count, 1U);
    EXPECT_EQ(brokers[1].leader_count, 0U);
    EXPECT_EQ(brokers[1].replica_count, 1U);
    EXPECT_EQ(brokers[2].replica_count, 0U);
}

TEST_F(ClusterTest, ADeletedTopicIsKnownToNobody) {
    place({k1, k2});
    ASSERT_TRUE(cluster_.isolate(k2, kStart));
    cluster_.remove(kTopic);
    EXPECT_EQ(cluster_.place_known_at(kNoBroker, kTopic), nullptr);
    EXPECT_EQ(cluster_.place_known_at(k2, kTopic), nullptr);
}

}  // namespace
}  // namespace partita::faults
