// Tests how many connections the broker knows, and how many wait for the kernel to say who they are.

#include "broker/runtime/clients/connections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "broker/handlers/request_context.h"
#include "tests/support/adjusted_clock.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

using insight::ConnectionId;
using runtime::Connections;
using Software = std::shared_ptr<const runtime::ClientSoftware>;

class ConnectionsBounds : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data"});
        ASSERT_NE(broker_, nullptr);
        connections_ = std::make_unique<Connections>(Schedule{clock_, real_schedule().executor});
    }
    void TearDown() override {
        connections_.reset();
        broker_.reset();
    }
    ConnectionId note() {
        runtime::ClientConnection client;
        client.id = connections_->next_id();
        client.host = "/127.0.0.1";
        client.port = 1;
        client.from_this_machine = true;
        client.listener = listener_;
        connections_->note(client, "c");
        return client.id;
    }

    const std::shared_ptr<const runtime::ListenerView> listener_ = std::make_shared<const runtime::ListenerView>(
        runtime::ListenerView{.name = "PLAINTEXT", .local_address = "127.0.0.1", .local_port = 2});
    TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
    AdjustedClock clock_;
    std::unique_ptr<Connections> connections_;
};

TEST_F(ConnectionsBounds, OfAConnectionBeyondThoseThatAreKnownNothingIsSaid) {
    const ConnectionId first = note();
    while (connections_->size() < Connections::kKnownMax) {
        (void)note();
    }
    EXPECT_TRUE(connections_->knows_all());
    const ConnectionId beyond = note();
    EXPECT_EQ(connections_->size(), Connections::kKnownMax);
    EXPECT_FALSE(connections_->find(beyond));
    EXPECT_TRUE(connections_->want_process(beyond)) << "there is nothing to wait for";
    EXPECT_TRUE(connections_->find(first));
    connections_->closed(first);
    EXPECT_TRUE(connections_->find(note())) << "there is a place again";
    EXPECT_FALSE(connections_->knows_all()) << "the one that had no place may still be there";
}

TEST_F(ConnectionsBounds, OfThoseThatAreCalledAlikeTheFirstAreTold) {
    const ConnectionId first = note();
    const ConnectionId second = note();
    (void)note();
    const auto called = connections_->called("c", 2);
    ASSERT_EQ(called.size(), 2U);
    EXPECT_EQ(called[0].facts.id, first);
    EXPECT_EQ(called[1].facts.id, second);
    EXPECT_TRUE(connections_->called("d", 2).empty());
}

TEST_F(ConnectionsBounds, ClientsOfTheSameSoftwareShareWhatTheySayOfIt) {
    const Software first = connections_->software("librdkafka", "2.16.0");
    EXPECT_EQ(*first, (runtime::ClientSoftware{.name = "librdkafka", .version = "2.16.0"}));
    EXPECT_EQ(connections_->software("librdkafka", "2.16.0"), first);
    const Software older = connections_->software("librdkafka", "2.15.0");
    EXPECT_EQ(*older, (runtime::ClientSoftware{.name = "librdkafka", .version = "2.15.0"}));
    const Software other = connections_->software("librdkafkb", "2.16.0");
    EXPECT_EQ(*other, (runtime::ClientSoftware{.name = "librdkafkb", .version = "2.16.0"}));
    EXPECT_EQ(connections_->software("librdkafka", "2.16.0"), first);
}

TEST_F(ConnectionsBounds, SoftwareBeyondTheKindsThatAreSharedIsKnownToItsConnectionOnly) {
    std::vector<Software> kinds;
    while (kinds.size() < Connections::kSoftwareMax) {
        kinds.push_back(connections_->software("kind", std::to_string(kinds.size())));
    }
    const Software beyond = connections_->software("beyond", "1");
    EXPECT_EQ(*beyond, (runtime::ClientSoftware{.name = "beyond", .version = "1"}));
    EXPECT_NE(connections_->software("beyond", "1"), beyond);
    EXPECT_EQ(connections_->software("kind", "0"), kinds.front());
    EXPECT_EQ(connections_->software("kind", std::to_string(kinds.size() - 1)), kinds.back());
    kinds.pop_back();
    const Software after = connections_->software("after", "1");
    EXPECT_EQ(connections_->software("after", "1"), after) << "there is a place again";
}

TEST_F(ConnectionsBounds, SoftwareIsForgottenWithTheLastConnectionThatSaysIt) {
    Software first = connections_->software("librdkafka", "2.16.0");
    Software second = connections_->software("librdkafka", "2.16.0");
    const std::weak_ptr<const runtime::ClientSoftware> known = first;
    first.reset();
    EXPECT_EQ(connections_->software("librdkafka", "2.16.0"), second);
    second.reset();
    EXPECT_TRUE(known.expired());
    // A client that keeps giving itself new names takes no place from others.
    for (std::size_t number = 0; number <= 2 * Connections::kSoftwareMax; ++number) {
        first = connections_->software("new", std::to_string(number));
    }
    second = connections_->software("librdkafka", "2.16.0");
    EXPECT_EQ(connections_->software("librdkafka", "2.16.0"), second);
}

TEST_F(ConnectionsBounds, ReactorsShareSoftwareWhileConnectionsComeAndGo) {
    constexpr int kThreads = 4;
    constexpr int kRounds = 2'000;
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> reactors;
    for (int thread = 0; thread < kThreads; ++thread) {
        reactors.emplace_back([&, thread] {
            for (int round = 0; round < kRounds; ++round) {
                const std::string version = std::to_string((thread + round) % 3);
                const Software said = connections_->software("client", version);
                if (said->version != version || connections_->software("client", version) != said) {
                    ++wrong;
                }
            }
        });
    }
    reactors.clear();
    EXPECT_EQ(wrong, 0);
}

TEST_F(ConnectionsBounds, AWishBeyondThoseThatWaitIsTakenLater) {
    // The thread rests many times longer than it was kept busy, and this test keeps it busy.
    clock_.measures = false;
    std::promise<void> gate;
    std::promise<void> is_asked;
    std::atomic<std::size_t> most = 0;
    connections_->look_up_by(
        [&, open = gate.get_future().share(), is_first = true](std::span<const runtime::LocalConnection> wanted) mutable {
            if (std::exchange(is_first, false)) {
                is_asked.set_value();
            }
            open.wait();
            most = std::max(most.load(), wanted.size());
            return std::vector<std::optional<insight::ProcessIdentity>>(wanted.size());
        });
    EXPECT_FALSE(connections_->want_process(note()));
    is_asked.get_future().wait();
    // While the thread looks for the first one, the others wait.
    ConnectionId last;
    for (std::size_t number = 0; number <= Connections::kWantedMax; ++number) {
        last = note();
        EXPECT_FALSE(connections_->want_process(last));
    }
    gate.set_value();
    EXPECT_TRUE(eventually([&] { return connections_->want_process(last); }));
    EXPECT_EQ(most, Connections::kWantedMax);
    // The thread of `connections_` uses this test's memory.
    connections_.reset();
}

}  // namespace
}  // namespace partita::test
