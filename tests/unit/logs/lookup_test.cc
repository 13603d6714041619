// Tests how a partition is looked up, for one node of several and for the whole process.

#include "broker/logs/lookup.h"

#include <gtest/gtest.h>

#include "tests/support/three_nodes.h"
#include "tests/unit/logs/log_service_world.h"

namespace partita::logs {
namespace {

class LookupTest : public ::testing::Test {
  protected:
    [[nodiscard]] PartitionLookup find(std::int32_t index, BrokerId asked = BrokerId{1}) {
        return find_partition(world_.topic(), PartitionIndex{index}, placement_, asked);
    }

    test::LogServiceWorld world_;
    test::ThreeNodes plan_;
    const Placement placement_{BrokerId{1}, &plan_};
};

TEST_F(LookupTest, ANodeFindsThePartitionsThatItLeads) {
    const PartitionLookup found = find(0);
    EXPECT_EQ(found.outcome, Outcome::ok);
    ASSERT_NE(found.partition, nullptr);
    EXPECT_EQ(*found.partition, world_.partition(0));
}

TEST_F(LookupTest, ANodeFindsThePartitionOfAnotherNodeButDoesNotLeadIt) {
    for (const auto& [index, asked] : {std::pair(1, BrokerId{1}), std::pair(0, BrokerId{3})}) {
        const PartitionLookup found = find(index, asked);
        EXPECT_EQ(found.outcome, Outcome::not_led_here) << asked.value;
        ASSERT_NE(found.partition, nullptr);
        EXPECT_EQ(*found.partition, world_.partition(static_cast<std::size_t>(index)));
    }
}

TEST_F(LookupTest, TheProcessLeadsAllPartitions) {
    for (const std::int32_t index : {0, 1}) {
        const PartitionLookup found = find_partition(world_.topic(), PartitionIndex{index});
        EXPECT_EQ(found.outcome, Outcome::ok);
        ASSERT_NE(found.partition, nullptr);
        EXPECT_EQ(*found.partition, world_.partition(static_cast<std::size_t>(index)));
    }
}

TEST_F(LookupTest, AnIndexOutsideOfTheTopicIsUnknownToAllNodes) {
    for (const std::int32_t index : {-1, 2}) {
        EXPECT_EQ(find(index).outcome, Outcome::unknown_partition);
        EXPECT_EQ(find(index).partition, nullptr);
        EXPECT_EQ(find_partition(world_.topic(), PartitionIndex{index}).outcome, Outcome::unknown_partition);
        EXPECT_EQ(find(index).judge_leader_epoch(LeaderEpoch{0}), Outcome::unknown_partition);
    }
}

TEST_F(LookupTest, AWrongEpochCountsBeforeAWrongNode) {
    EXPECT_EQ(find(0).judge_leader_epoch(LeaderEpoch{0}), Outcome::ok);
    EXPECT_EQ(find(0).judge_leader_epoch(kNoLeaderEpoch), Outcome::ok);
    EXPECT_EQ(find(1).judge_leader_epoch(kNoLeaderEpoch), Outcome::not_led_here);
    EXPECT_EQ(find(1).judge_leader_epoch(LeaderEpoch{0}), Outcome::not_led_here);
    EXPECT_EQ(find(1).judge_leader_epoch(LeaderEpoch{1}), Outcome::unknown_leader_epoch);
    EXPECT_EQ(find(0).judge_leader_epoch(LeaderEpoch{-2}), Outcome::fenced_leader_epoch);
}

}  // namespace
}  // namespace partita::logs
