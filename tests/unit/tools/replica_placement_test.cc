// Tests the placement of replicas against Kafka's StripedReplicaPlacer: the same seeds, and what the Java class said.

#include "broker/tools/replica_placement.h"

#include <gtest/gtest.h>

#include "broker/tools/text.h"

namespace partita::tools {
namespace {

/// "1,2 2,3": the brokers of each partition, or the error.
std::string placed(std::uint64_t seed, std::int32_t partitions, std::int32_t replicas, const std::vector<UsableBroker>& brokers) {
    JavaRandom random(seed);
    const auto placements = place_replicas(brokers, partitions, replicas, random);
    if (!placements) {
        return placements.error();
    }
    std::vector<std::string> words;
    for (const auto& placement : *placements) {
        std::vector<std::string> ids;
        for (const std::int32_t id : placement) {
            ids.push_back(std::to_string(id));
        }
        words.push_back(joined(ids, ","));
    }
    return joined(words, " ");
}

TEST(ReplicaPlacement, WithoutRacksEachBrokerLeadsInTurn) {
    EXPECT_EQ(placed(1, 7, 2, {{3}, {1}, {2}}), "1,2 2,3 3,1 3,1 1,2 2,3 1,3");
    EXPECT_EQ(placed(123456789012, 5, 1, {{1}, {2}}), "1 2 1 2 2");
    EXPECT_EQ(placed(5, 3, 1, {{9}}), "9 9 9");
}

TEST(ReplicaPlacement, ReplicasOfAPartitionAreInDifferentRacks) {
    EXPECT_EQ(placed(42, 9, 3, {{0, "a"}, {1, "a"}, {2, "b"}, {3, "b"}, {4, "c"}, {5, "c"}}),
              "5,1,2 0,3,4 2,5,1 4,0,3 1,2,5 3,4,0 0,5,2 4,3,1 2,0,5");
    EXPECT_EQ(placed(7, 12, 2, {{10, "east"}, {20, "west"}, {30, "west"}, {40, "north-1"}}),
              "40,30 20,10 10,40 40,30 40,20 30,10 10,40 40,20 30,10 10,40 40,20 30,10");
}

TEST(ReplicaPlacement, UnevenRacksAreServedRoundByRound) {
    EXPECT_EQ(placed(5, 4, 4, {{1, "x"}, {2, "x"}, {3, "x"}, {4, "y"}}), "3,4,1,2 4,1,2,3 2,4,3,1 4,3,1,2");
    EXPECT_EQ(placed(99, 40, 3, {{1, "r1"}, {2, "r1"}, {3, "r2"}, {4, "r2"}, {5, "r2"}, {6, "r3"}, {7, "r4"}}),
              "7,2,4 1,5,6 3,6,7 6,7,2 7,1,4 2,5,6 3,6,7 7,3,2 5,1,6 2,6,7 6,7,4 7,3,1 5,2,6 1,6,7 6,3,7 4,7,1 7,2,6 1,6,5 6,3,7 "
              "4,7,2 7,1,6 2,4,7 5,7,6 7,6,1 6,2,3 1,4,7 5,7,6 7,6,2 7,6,3 6,4,1 5,2,7 1,7,6 7,6,3 6,4,2 5,1,7 1,5,6 4,6,7 6,7,2 "
              "7,1,3 2,5,6");
}

TEST(ReplicaPlacement, AFactorThatTheBrokersCannotReachIsRefused) {
    EXPECT_EQ(
        placed(5, 1, 2, {{1}}),
        "The target replication factor of 2 cannot be reached because only 1 broker(s) are registered or some brokers have all "
        "their log directories cordoned.");
    EXPECT_EQ(placed(5, 1, 1, {}), "All brokers are currently fenced, or have all their log directories cordoned.");
    EXPECT_EQ(placed(5, 1, 0, {{1}}), "Invalid replication factor 0: the replication factor must be positive.");
}

template <class Random>
std::string numbers(Random random, std::int32_t bound, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += std::to_string(random.below(bound)) + " ";
    }
    return text;
}

TEST(JavaRandom, NumbersAreThoseOfAJvm) {
    EXPECT_EQ(numbers(JavaRandom(3), 1'500'000'000, 10),
              "1207763660 152454210 144139128 1249547202 1235116564 488197459 1418025585 757666882 142793614 64032981 ");
    EXPECT_EQ(numbers(SplittableRandom(3), 1'500'000'000, 10),
              "502273517 418494645 858906240 678483686 1250768211 834519768 648775355 781766554 1453340834 637431868 ");
    EXPECT_EQ(numbers(SplittableRandom(0), 8, 12), "5 1 3 2 2 5 7 1 5 3 7 7 ");
}

TEST(SplittableRandom, LettersAreThoseOfKafkasProducerPerformance) {
    SplittableRandom random(0);
    std::string letters;
    for (int i = 0; i < 40; ++i) {
        letters += static_cast<char>('A' + random.below(26));
    }
    EXPECT_EQ(letters, "YQHHNEBSEPDNSEIFGAMSUJXKOLTXSPLGHDIOYZJF");
}

}  // namespace
}  // namespace partita::tools
