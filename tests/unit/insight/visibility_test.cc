#include "broker/insight/identity/visibility.h"

#include <gtest/gtest.h>

namespace partita::insight {
namespace {

const std::vector<CountStep> kSteps = {{.old_count = 4, .new_count = 6, .time = TimestampMs{1000}},
                                       {.old_count = 6, .new_count = 12, .time = TimestampMs{5000}}};

TEST(Visibility, WithoutADelayEverybodySeesTheTruth) { EXPECT_EQ(visible_count(kSteps, 12, 0, TimestampMs{5000}), 12); }

TEST(Visibility, StepIsHiddenUntilItsDelayIsOver) {
    EXPECT_EQ(visible_count(kSteps, 12, 2000, TimestampMs{6999}), 6);
    EXPECT_EQ(visible_count(kSteps, 12, 2000, TimestampMs{7000}), 12);
    EXPECT_EQ(visible_count(kSteps, 12, 100'000, TimestampMs{7000}), 4);
}

TEST(Visibility, NegativeDelayHidesUntilReleased) { EXPECT_EQ(visible_count(kSteps, 12, -1, TimestampMs{1'000'000'000}), 4); }

TEST(Visibility, TopicThatNeverGrewIsShownWhole) { EXPECT_EQ(visible_count({}, 3, -1, TimestampMs{0}), 3); }

TEST(Visibility, RoleDecidesAndStrangersAreToldTheTruth) {
    const VisibilityDelays delays{.producers_ms = 10, .consumers_ms = -1};
    const ClientRoles producer{.produces = true};
    const ClientRoles consumer{.consumes = true};
    const ClientRoles both{.produces = true, .consumes = true};
    const ClientRoles neither;
    EXPECT_EQ(delay_for(&producer, delays), 10);
    EXPECT_EQ(delay_for(&consumer, delays), -1);
    EXPECT_EQ(delay_for(&both, delays), -1);
    EXPECT_EQ(delay_for(&neither, delays), 0);
    EXPECT_EQ(delay_for(nullptr, delays), 0);
}

TEST(ClientTable, WhoWasNotedLongestAgoMakesRoom) {
    ClientTable<int, 2> table;
    table.note({"a", "h"}) = 1;
    table.note({"b", "h"}) = 2;
    table.note({"a", "h"}) += 10;
    EXPECT_FALSE(table.has_overflowed());
    table.note({"c", "h"}) = 3;
    EXPECT_TRUE(table.has_overflowed());
    EXPECT_EQ(table.size(), 2U);
    EXPECT_EQ(*table.find({"a", "h"}), 11);
    EXPECT_EQ(table.find({"b", "h"}), nullptr);
    EXPECT_EQ(*table.find({"c", "h"}), 3);
}

}  // namespace
}  // namespace partita::insight
