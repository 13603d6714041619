// Tests which node answers for what: one for everything, or several by a plan.

#include "broker/logs/placement.h"

#include <gmock/gmock.h>

#include "tests/support/three_nodes.h"

namespace partita::logs {
namespace {

using catalog::CoordinatorKind;

TEST(Placement, OneNodeAnswersForEverything) {
    const Placement placement(BrokerId{7});
    ASSERT_EQ(placement.nodes().size(), 1U);
    EXPECT_EQ(placement.nodes()[0].id, BrokerId{7});
    EXPECT_FALSE(placement.nodes()[0].address) << "clients reach it where they came in";
    EXPECT_EQ(placement.own(), BrokerId{7});
    EXPECT_EQ(placement.leader_of("t", PartitionIndex{12}), BrokerId{7});
    EXPECT_EQ(placement.coordinator_of(CoordinatorKind::groups, "g"), BrokerId{7});
    EXPECT_EQ(placement.node_of("PLAINTEXT"), BrokerId{7});
    EXPECT_TRUE(placement.is_led_at("PLAINTEXT", "t", PartitionIndex{12}));
}

TEST(Placement, APlanTellsWhichOfSeveralNodesAnswers) {
    const test::ThreeNodes plan;
    const Placement placement(BrokerId{1}, &plan);
    EXPECT_EQ(placement.nodes().size(), 3U);
    EXPECT_EQ(placement.own(), BrokerId{1});
    EXPECT_EQ(placement.leader_of("t", PartitionIndex{1}), BrokerId{2});
    EXPECT_EQ(placement.coordinator_of(CoordinatorKind::transactions, "x"), BrokerId{3});
    EXPECT_EQ(placement.node_of("THIRD"), BrokerId{3});
    EXPECT_TRUE(placement.is_led_at("THIRD", "t", PartitionIndex{2}));
    EXPECT_FALSE(placement.is_led_at("THIRD", "t", PartitionIndex{1})) << "its leader is the second";
}

}  // namespace
}  // namespace partita::logs
