#include "broker/insight/hub/findings_hub.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "broker/config/log_setup.h"

namespace partita::insight {
namespace {

Finding stale(const std::string& client) {
    return make_finding(HazardId::stale_producer, {.topic = "orders", .client_id = client}, "condition");
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
    std::vector<OpenFinding> open;
    std::vector<std::string> heard;
    const auto id = hub.subscribe([&](const FindingEvent& event) { heard.push_back(event.finding.subject.client_id); }, open);
    hub.settle("a", std::vector{stale("x"), stale("y")}, {2});
    ASSERT_EQ(open.size(), 1u);
    EXPECT_EQ(open[0].finding.subject.client_id, "x");
    EXPECT_EQ(heard, std::vector<std::string>{"y"});
    hub.unsubscribe(id);
}

// Observers run on several threads; listeners still see dense sequences, in order.
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

std::vector<Finding> about_groups(HazardId id, int groups) {
    std::vector<Finding> findings;
    for (int group = 0; group < groups; ++group) {
        findings.push_back(make_finding(id, {.topic = "orders", .group = "g" + std::to_string(group)}, "condition"));
    }
    return findings;
}

std::vector<std::string> logged(FindingsHub& hub, const std::vector<Finding>& findings) {
    testing::internal::CaptureStderr();
    hub.settle("a", findings, {1});
    std::istringstream text(testing::internal::GetCapturedStderr());
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) {
        lines.push_back(line);
    }
    return lines;
}

TEST(FindingsHub, AThousandSeededGroupsAreOneLineOfTheLog) {
    log::open(log::Level::info);
    FindingsHub hub;
    const auto opened = logged(hub, about_groups(HazardId::seeded_offsets, 900));
    ASSERT_EQ(opened.size(), 1u);
    EXPECT_NE(opened[0].find(
                  "finding=H30 event=opened severity=info kind=danger topic=orders findings=900 of=\"g0, g1, g2 and 897 more\""),
              std::string::npos)
        << opened[0];
    EXPECT_EQ(logged(hub, {}).size(), 1u) << "and one when they are over";
}

TEST(FindingsHub, OfManyWarningsTheFirstHaveLinesOfTheirOwn) {
    log::open(log::Level::info);
    FindingsHub hub;
    const auto opened = logged(hub, about_groups(HazardId::latest_loses_first_records, 25));
    ASSERT_EQ(opened.size(), FindingsHub::kLogLinesMax + 1);
    EXPECT_NE(opened.front().find("group=g0 "), std::string::npos);
    EXPECT_NE(opened.back().find("findings=15"), std::string::npos) << opened.back();
}

}  // namespace
}  // namespace partita::insight
