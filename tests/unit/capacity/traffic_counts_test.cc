#include "broker/capacity/traffic_counts.h"

#include <gtest/gtest.h>

#include <string>

namespace partita::capacity {
namespace {

TEST(TrafficCounts, ABatchOfAHundredIsOneRequestAndAHundredMessages) {
    TrafficCounts traffic;
    traffic.note_incoming("orders", {.bytes = 12'345, .events = 100});
    EXPECT_EQ(traffic.all().incoming, (TrafficCounts::Flow{1, 100, 12'345}));
    EXPECT_EQ(traffic.entities().at("orders").incoming, (TrafficCounts::Flow{1, 100, 12'345}));
    EXPECT_EQ(traffic.entities().at("orders").outgoing, TrafficCounts::Flow{});
}

TEST(TrafficCounts, TopicsAreCountedByThemselvesAndTogether) {
    TrafficCounts traffic;
    traffic.note_incoming("a", {.bytes = 1, .events = 2});
    traffic.note_outgoing("b", {.bytes = 3, .events = 4});
    traffic.note_outgoing("b", {.bytes = 5, .events = 6});
    traffic.note_throttled("a");
    EXPECT_EQ(traffic.entities().size(), 2U);
    EXPECT_EQ(traffic.entities().at("b").outgoing, (TrafficCounts::Flow{2, 10, 8}));
    EXPECT_EQ(traffic.entities().at("a").throttled_requests, 1U);
    EXPECT_EQ(traffic.all(), (TrafficCounts::Counts{{1, 2, 1}, {2, 10, 8}, 1}));
}

TEST(TrafficCounts, BeyondTheLimitOfTopicsOnlyTheSumsAreKept) {
    TrafficCounts traffic;
    for (std::size_t index = 0; index <= TrafficCounts::kEntitiesMax; ++index) {
        traffic.note_incoming("topic-" + std::to_string(index), {.bytes = 1, .events = 1});
    }
    EXPECT_EQ(traffic.entities().size(), TrafficCounts::kEntitiesMax);
    EXPECT_EQ(traffic.all().incoming.messages, TrafficCounts::kEntitiesMax + 1);
    traffic.note_incoming("topic-0", {.bytes = 1, .events = 1});
    EXPECT_EQ(traffic.entities().at("topic-0").incoming.messages, 2U);
}

}  // namespace
}  // namespace partita::capacity
