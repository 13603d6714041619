#include "broker/runtime/findings_hub.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace partita::runtime {
namespace {

using expansion::Finding;
using expansion::FindingEvent;
using expansion::HazardId;

Finding stale(const std::string& client) {
    return expansion::make_finding(HazardId::stale_producer, {.topic = "orders", .client_id = client}, "condition");
}

TEST(FindingsHub, SubscribersHearEveryEventInOrder) {
    FindingsHub hub;
    std::vector<std::uint64_t> first;
    std::vector<std::uint64_t> second;
    const auto one = hub.subscribe([&](const FindingEvent& event) { first.push_back(event.sequence); });
    hub.settle("a", std::vector{stale("x"), stale("y")}, {1});
    const auto two = hub.subscribe([&](const FindingEvent& event) { second.push_back(event.sequence); });
    hub.settle("a", std::vector{stale("x")}, {2});
    hub.unsubscribe(one);
    hub.settle("a", {}, {3});
    hub.unsubscribe(two);
    EXPECT_EQ(first, (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_EQ(second, (std::vector<std::uint64_t>{3, 4}));
    EXPECT_TRUE(hub.open().empty());
}

TEST(FindingsHub, ASubscriptionStartsFromWhatIsOpenAndMissesNothing) {
    FindingsHub hub;
    hub.settle("a", std::vector{stale("x")}, {1});
    std::vector<expansion::OpenFinding> open;
    std::vector<std::string> heard;
    const auto id = hub.subscribe([&](const FindingEvent& event) { heard.push_back(event.finding.subject.client_id); }, open);
    hub.settle("a", std::vector{stale("x"), stale("y")}, {2});
    ASSERT_EQ(open.size(), 1u);
    EXPECT_EQ(open[0].finding.subject.client_id, "x");
    EXPECT_EQ(heard, std::vector<std::string>{"y"});
    hub.unsubscribe(id);
}

// Observers run on threads of their own; sequences stay dense and in order for whoever listens.
TEST(FindingsHub, ObserversOnSeveralThreadsShareOneOrder) {
    FindingsHub hub;
    std::uint64_t last = 0;
    bool is_dense = true;
    const auto id = hub.subscribe([&](const FindingEvent& event) { is_dense &= event.sequence == ++last; });
    std::vector<std::thread> observers;
    for (int observer = 0; observer < 4; ++observer) {
        observers.emplace_back([&hub, observer] {
            const std::string source = std::to_string(observer);
            for (std::int64_t round = 0; round < 200; ++round) {
                hub.settle(source, std::vector{stale(source + "-" + std::to_string(round % 2))}, {round});
            }
            hub.settle(source, {}, {1000});
        });
    }
    for (std::thread& observer : observers) {
        observer.join();
    }
    hub.unsubscribe(id);
    EXPECT_TRUE(is_dense);
    EXPECT_EQ(last, 4u * 200 * 2);
    EXPECT_TRUE(hub.open().empty());
}

}  // namespace
}  // namespace partita::runtime
