// Tests which node answers for what: one for everything, or several by a plan.

#include "broker/logs/placement.h"

#include <gmock/gmock.h>

#include "tests/support/three_nodes.h"

namespace partita::logs {
namespace {

using catalog::CoordinatorKind;
using ::testing::ElementsAre;

constexpr TopicId kTopic{};

TEST(Placement, OneNodeAnswersForEverything) {
    const Placement placement(BrokerId{7});
    EXPECT_THAT(placement.registered(), ElementsAre(BrokerId{7}));
    EXPECT_EQ(placement.own(), BrokerId{7});
    EXPECT_EQ(placement.controller_known_at(kNoBroker), BrokerId{7});
    EXPECT_EQ(placement.coordinator_known_at(kNoBroker, CoordinatorKind::groups, "g"), BrokerId{7});
    EXPECT_TRUE(placement.is_led_at(kNoBroker, kTopic, PartitionIndex{12}));
    EXPECT_TRUE(placement.is_held_at(kNoBroker, kTopic, PartitionIndex{12}));
}

TEST(Placement, OneNodeHasNothingToElectAndNothingToMove) {
    const Placement placement(BrokerId{7});
    const catalog::Topic topic;
    EXPECT_EQ(placement.elect(topic, PartitionIndex{0}, Election::preferred).code, ErrorCode::election_not_needed);
    const auto reassign = [&](std::vector<BrokerId> target) {
        return placement.reassign(topic, PartitionIndex{0}, std::move(target), true);
    };
    EXPECT_EQ(reassign({BrokerId{7}}).code, ErrorCode::none);
    EXPECT_EQ(reassign({BrokerId{8}}).message,
              "The manual partition assignment includes broker 8, but no such broker is registered.");
    EXPECT_EQ(placement.reassign(topic, PartitionIndex{0}, std::nullopt, true).code, ErrorCode::no_reassignment_in_progress);
}

TEST(Placement, APlanTellsWhichOfSeveralNodesAnswers) {
    test::ThreeNodes plan;
    const Placement placement(BrokerId{1}, &plan);
    EXPECT_THAT(placement.registered(), ElementsAre(BrokerId{1}, BrokerId{2}, BrokerId{3}));
    EXPECT_EQ(placement.own(), BrokerId{1});
    EXPECT_EQ(placement.coordinator_known_at(BrokerId{1}, CoordinatorKind::transactions, "x"), BrokerId{3});
    EXPECT_TRUE(placement.is_led_at(BrokerId{3}, kTopic, PartitionIndex{2}));
    EXPECT_FALSE(placement.is_led_at(BrokerId{3}, kTopic, PartitionIndex{1})) << "its leader is the second";
    EXPECT_TRUE(placement.is_led_at(kNoBroker, kTopic, PartitionIndex{1})) << "a client of the whole process";
}

TEST(Placement, TheControllerIsANodeThatLives) {
    class FirstDead final : public test::ThreeNodes {
      public:
        [[nodiscard]] std::shared_ptr<const Nodes> nodes_known_at(BrokerId) const override {
            return std::make_shared<const Nodes>(
                Nodes{{.id = BrokerId{1}, .is_fenced = true}, {.id = BrokerId{2}}, {.id = BrokerId{3}}});
        }
    } plan;
    EXPECT_EQ(Placement(BrokerId{1}, &plan).controller_known_at(kNoBroker), BrokerId{2});
    EXPECT_EQ(Placement(BrokerId{3}, &plan).controller_known_at(kNoBroker), BrokerId{3});
}

}  // namespace
}  // namespace partita::logs
