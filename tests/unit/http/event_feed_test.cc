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

using expansion::Finding;
using expansion::HazardId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Finding stale_producer(const std::string& client) {
    return expansion::make_finding(HazardId::stale_producer, {.topic = "orders", .client_id = client}, "condition");
}

/// Keeps what it is offered, as "opened x".
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
    runtime::FindingsHub hub;
    hub.settle("a", std::vector{stale_producer("x")}, {1});
    EventFeed feed(hub);
    const auto listener = std::make_shared<Listener>();
    ASSERT_TRUE(feed.add(listener));
    hub.settle("a", std::vector{stale_producer("x"), stale_producer("y")}, {2});
    hub.settle("a", std::vector{stale_producer("y")}, {3});
    EXPECT_THAT(listener->heard(), ElementsAre("opened x", "opened y", "closed x"));
    EXPECT_THAT(listener->sequences(), ElementsAre(0, 2, 3));
}

TEST(EventFeed, LetsGoOfWhoIsTooSlowAndOfNobodyElse) {
    runtime::FindingsHub hub;
    EventFeed feed(hub);
    const auto slow = std::make_shared<Listener>();
    const auto quick = std::make_shared<Listener>();
    ASSERT_TRUE(feed.add(slow) && feed.add(quick));
    slow->is_slow = true;
    hub.settle("a", std::vector{stale_producer("x")}, {1});
    EXPECT_EQ(slow->ends, 1);
    hub.settle("a", {}, {2});
    EXPECT_THAT(slow->heard(), ElementsAre("opened x")) << "nothing comes after the end, so a gap cannot be taken for silence";
    EXPECT_THAT(quick->heard(), ElementsAre("opened x", "closed x"));
}

TEST(EventFeed, HasABoundAndGivesThePlacesOfThoseWhoLeft) {
    runtime::FindingsHub hub;
    EventFeed feed(hub);
    std::vector<std::shared_ptr<Listener>> listeners;
    for (std::size_t index = 0; index < EventFeed::kSinksMax; ++index) {
        listeners.push_back(std::make_shared<Listener>());
        ASSERT_TRUE(feed.add(listeners.back()));
    }
    const auto late = std::make_shared<Listener>();
    EXPECT_FALSE(feed.add(late));
    listeners.front()->gone = true;
    EXPECT_TRUE(feed.add(late));
    hub.settle("a", std::vector{stale_producer("x")}, {1});
    EXPECT_THAT(listeners.front()->heard(), IsEmpty());
    EXPECT_THAT(late->heard(), ElementsAre("opened x"));
}

TEST(EventFeed, EndsEverybodyWithItself) {
    runtime::FindingsHub hub;
    const auto listener = std::make_shared<Listener>();
    {
        EventFeed feed(hub);
        ASSERT_TRUE(feed.add(listener));
    }
    EXPECT_EQ(listener->ends, 1);
    hub.settle("a", std::vector{stale_producer("x")}, {1});
    EXPECT_THAT(listener->heard(), IsEmpty());
}

TEST(EventFeed, LetsGoOfEverybodyAtItsStopAndTakesNobodyAfterIt) {
    runtime::FindingsHub hub;
    EventFeed feed(hub);
    const auto listener = std::make_shared<Listener>();
    ASSERT_TRUE(feed.add(listener));
    feed.stop();
    EXPECT_EQ(listener->ends, 1);
    EXPECT_EQ(listener.use_count(), 1) << "a sink that is held keeps its connection, and that its server";
    EXPECT_FALSE(feed.add(std::make_shared<Listener>()));
    hub.settle("a", std::vector{stale_producer("x")}, {1});
    EXPECT_THAT(listener->heard(), IsEmpty());
}

TEST(EventFeed, MissesNothingForThoseWhoComeWhileThingsHappen) {
    runtime::FindingsHub hub;
    EventFeed feed(hub);
    constexpr int kRounds = 300;
    std::thread observer([&] {
        for (int round = 0; round < kRounds; ++round) {
            hub.settle("a", std::vector{stale_producer(std::to_string(round))}, {round});
        }
    });
    std::vector<std::shared_ptr<Listener>> listeners;
    for (int index = 0; index < 40; ++index) {
        listeners.push_back(std::make_shared<Listener>());
        ASSERT_TRUE(feed.add(listeners.back()));
    }
    observer.join();
    for (const auto& listener : listeners) {
        const std::vector<std::uint64_t> sequences = listener->sequences();
        std::uint64_t last = 0;
        for (const std::uint64_t sequence : sequences) {
            if (sequence == 0) continue;
            EXPECT_TRUE(last == 0 || sequence == last + 1) << sequence << " after " << last;
            last = sequence;
        }
        EXPECT_TRUE(last == 0 || last == 2 * kRounds - 1) << last;
    }
}

}  // namespace
}  // namespace partita::http
