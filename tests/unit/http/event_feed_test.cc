#include "broker/http/event_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace partita::http {
namespace {

using insight::Finding;
using insight::HazardId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const access::Authorizer kEverybodyMayHear(nullptr);

Finding stale_producer(const std::string& client, const std::string& topic = "orders") {
    return insight::make_finding(HazardId::stale_producer, {.topic = topic, .client_id = client}, "condition");
}

/// Keeps the events that it is offered, as "opened x".
class Listener final : public EventSink {
  public:
    bool offer(const std::string& line) override {
        const std::scoped_lock lock(mutex_);
        const auto event = nlohmann::json::parse(line);
        sequences_.push_back(event.at("sequence"));
        heard_.push_back(event.at("event").get<std::string>() + " " +
                         event.at("finding").at("subject").at("client_id").get<std::string>());
        return !is_slow;
    }
    bool is_gone() const override { return gone; }
    void end() override { ++ends; }

    std::vector<std::string> heard() const {
        const std::scoped_lock lock(mutex_);
        return heard_;
    }
    std::vector<std::uint64_t> sequences() const {
        const std::scoped_lock lock(mutex_);
        return sequences_;
    }

    std::atomic<bool> is_slow = false;
    std::atomic<bool> gone = false;
    std::atomic<int> ends = 0;

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> heard_;
    std::vector<std::uint64_t> sequences_;
};

TEST(EventFeed, BeginsWithWhatIsOpenAndGoesOnWithEveryChange) {
    insight::FindingsHub hub;
    hub.settle("a", std::vector{stale_producer("x")}, {1});
    EventFeed feed(hub, kEverybodyMayHear);
    const auto listener = std::make_shared<Listener>();
    ASSERT_TRUE(feed.add(listener, Caller()));
    hub.settle("a", std::vector{stale_producer("x"), stale_producer("y")}, {2});
    hub.settle("a", std::vector{stale_producer("y")}, {3});
    EXPECT_THAT(listener->heard(), ElementsAre("opened x", "opened y", "closed x"));
    EXPECT_THAT(listener->sequences(), ElementsAre(0, 2, 3));
}

/// A client from 10.0.0.1 may describe the topic "orders", and a client from 10.0.0.2 the cluster.
class RulesByAddress final : public access::Rules {
  public:
    bool allows(const access::Requester& requester, access::Permission permission,
                std::optional<std::string_view> name) const override {
        return requester.address == "10.0.0.1" ? permission == access::kDescribeTopic && name == "orders"
                                               : permission == access::kDescribeCluster;
    }
};

TEST(EventFeed, TellsNobodyOfTopicsThatHeMayNotDescribe) {
    const RulesByAddress rules;
    const access::Authorizer authorizer(&rules);
    insight::FindingsHub hub;
    EventFeed feed(hub, authorizer);
    hub.settle("a", std::vector{stale_producer("open"), stale_producer("secret", "payroll")}, {1});
    const auto of_one_topic = std::make_shared<Listener>();
    const auto of_all = std::make_shared<Listener>();
    ASSERT_TRUE(feed.add(of_one_topic, {.address = "10.0.0.1"}));
    ASSERT_TRUE(feed.add(of_all, {.address = "10.0.0.2"}));
    hub.settle("b", std::vector{stale_producer("new"), stale_producer("new secret", "payroll")}, {2});
    EXPECT_THAT(of_one_topic->heard(), ElementsAre("opened open", "opened new"));
    EXPECT_THAT(of_all->heard(),
                ::testing::UnorderedElementsAre("opened open", "opened secret", "opened new", "opened new secret"));
}

TEST(EventFeed, LetsGoOfWhoIsTooSlowAndOfNobodyElse) {
    insight::FindingsHub hub;
    EventFeed feed(hub, kEverybodyMayHear);
    const auto slow = std::make_shared<Listener>();
    const auto quick = std::make_shared<Listener>();
    ASSERT_TRUE(feed.add(slow, Caller()) && feed.add(quick, Caller()));
    slow->is_slow = true;
    hub.settle("a", std::vector{stale_producer("x")}, {1});
    EXPECT_EQ(slow->ends, 1);
    hub.settle("a", {}, {2});
    EXPECT_THAT(slow->heard(), ElementsAre("opened x")) << "nothing comes after the end, so a gap cannot be taken for silence";
    EXPECT_THAT(quick->heard(), ElementsAre("opened x", "closed x"));
}

TEST(EventFeed, HasABoundAndGivesThePlacesOfThoseWhoLeft) {
    insight::FindingsHub hub;
    EventFeed feed(hub, kEverybodyMayHear);
    std::vector<std::shared_ptr<Listener>> listeners;
    for (std::size_t index = 0; index < EventFeed::kSinksMax; ++index) {
        listeners.push_back(std::make_shared<Listener>());
        ASSERT_TRUE(feed.add(listeners.back(), Caller()));
    }
    const auto late = std::make_shared<Listener>();
    EXPECT_FALSE(feed.add(late, Caller()));
    listeners.front()->gone = true;
    EXPECT_TRUE(feed.add(late, Caller()));
    hub.settle("a", std::vector{stale_producer("x")}, {1});
    EXPECT_THAT(listeners.front()->heard(), IsEmpty());
    EXPECT_THAT(late->heard(), ElementsAre("opened x"));
}

TEST(EventFeed, EndsEverybodyWithItself) {
    insight::FindingsHub hub;
    const auto listener = std::make_shared<Listener>();
    {
        EventFeed feed(hub, kEverybodyMayHear);
        ASSERT_TRUE(feed.add(listener, Caller()));
    }
    EXPECT_EQ(listener->ends, 1);
    hub.settle("a", std::vector{stale_producer("x")}, {1});
    EXPECT_THAT(listener->heard(), IsEmpty());
}

TEST(EventFeed, LetsGoOfEverybodyAtItsStopAndTakesNobodyAfterIt) {
    insight::FindingsHub hub;
    EventFeed feed(hub, kEverybodyMayHear);
    const auto listener = std::make_shared<Listener>();
    ASSERT_TRUE(feed.add(listener, Caller()));
    feed.stop();
    EXPECT_EQ(listener->ends, 1);
    EXPECT_EQ(listener.use_count(), 1) << "a sink that is held keeps its connection, and that its server";
    EXPECT_FALSE(feed.add(std::make_shared<Listener>(), Caller()));
    hub.settle("a", std::vector{stale_producer("x")}, {1});
    EXPECT_THAT(listener->heard(), IsEmpty());
}

TEST(EventFeed, MissesNothingForThoseWhoComeWhileThingsHappen) {
    insight::FindingsHub hub;
    EventFeed feed(hub, kEverybodyMayHear);
    constexpr int kRounds = 300;
    std::thread observer([&] {
        for (int round = 0; round < kRounds; ++round) {
            hub.settle("a", std::vector{stale_producer(std::to_string(round))}, {round});
        }
    });
    std::vector<std::shared_ptr<Listener>> listeners;
    for (int index = 0; index < 40; ++index) {
        listeners.push_back(std::make_shared<Listener>());
        ASSERT_TRUE(feed.add(listeners.back(), Caller()));
    }
    observer.join();
    for (const auto& listener : listeners) {
        const std::vector<std::uint64_t> sequences = listener->sequences();
        std::uint64_t last = 0;
        for (const std::uint64_t sequence : sequences) {
            if (sequence == 0) {
                continue;
            }
            EXPECT_TRUE(last == 0 || sequence == last + 1) << sequence << " after " << last;
            last = sequence;
        }
        EXPECT_TRUE(last == 0 || last == 2 * kRounds - 1) << last;
    }
}

}  // namespace
}  // namespace partita::http
