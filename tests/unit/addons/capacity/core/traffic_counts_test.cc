#include "broker/addons/capacity/core/traffic_counts.h"

#include <gtest/gtest.h>

#include <string>

namespace partita::capacity {
namespace {

using Counts = TrafficCounts::Counts;
using Flow = TrafficCounts::Flow;

TEST(TrafficCounts, ABatchOfAHundredIsOneRequestAndAHundredMessages) {
    TrafficCounts traffic;
    traffic.note_incoming("orders", {.bytes = 12'345, .events = 100});
    traffic.note_request("orders", Outcome::successful);
    const Counts expected{.requests = 1, .successful_requests = 1, .incoming = {100, 12'345}};
    EXPECT_EQ(traffic.all(), expected);
    EXPECT_EQ(traffic.entities().at("orders"), expected);
}

TEST(TrafficCounts, TopicsAreCountedByThemselvesAndTogether) {
    TrafficCounts traffic;
    traffic.note_incoming("a", {.bytes = 1, .events = 2});
    traffic.note_outgoing("b", {.bytes = 3, .events = 4});
    traffic.note_outgoing("b", {.bytes = 5, .events = 6});
    EXPECT_EQ(traffic.entities().size(), 2U);
    EXPECT_EQ(traffic.entities().at("a").incoming, (Flow{2, 1}));
    EXPECT_EQ(traffic.entities().at("b").outgoing, (Flow{10, 8}));
    EXPECT_EQ(traffic.all(), (Counts{.incoming = {2, 1}, .outgoing = {10, 8}}));
    EXPECT_EQ(traffic.others(), Counts{});
}

TEST(TrafficCounts, EveryRequestEndsInOneOfFourWays) {
    TrafficCounts traffic;
    traffic.note_request("a", Outcome::successful);
    traffic.note_request("a", Outcome::throttled);
    traffic.note_request("a", Outcome::server_error);
    traffic.note_request("a", Outcome::user_error);
    traffic.note_request("a", Outcome::user_error);
    EXPECT_EQ(traffic.entities().at("a"),
              (Counts{.requests = 5, .successful_requests = 1, .throttled_requests = 1, .server_errors = 1, .user_errors = 2}));
}

TEST(TrafficCounts, ARequestForATopicThatNobodyKnowsCountsForAllOfThemOnly) {
    TrafficCounts traffic;
    traffic.note_request("", Outcome::user_error);
    EXPECT_TRUE(traffic.entities().empty());
    EXPECT_EQ(traffic.all().user_errors, 1U);
    EXPECT_EQ(traffic.others(), (Counts{.requests = 1, .user_errors = 1}));
}

TEST(TrafficCounts, BeyondTheLimitOfTopicsOnlyTheSumsAreKept) {
    TrafficCounts traffic;
    for (std::size_t index = 0; index <= TrafficCounts::kEntitiesMax; ++index) {
        traffic.note_incoming("topic-" + std::to_string(index), {.bytes = 1, .events = 1});
    }
    EXPECT_EQ(traffic.entities().size(), TrafficCounts::kEntitiesMax);
    EXPECT_EQ(traffic.all().incoming.messages, TrafficCounts::kEntitiesMax + 1);
    EXPECT_EQ(traffic.others().incoming, (Flow{1, 1}));
    traffic.note_incoming("topic-0", {.bytes = 1, .events = 1});
    EXPECT_EQ(traffic.entities().at("topic-0").incoming.messages, 2U);
}

}  // namespace
}  // namespace partita::capacity
