// How many connections are known, and how many wait for the kernel to say who they are.

#include "broker/runtime/clients/connections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "broker/handlers/request_context.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

using expansion::ConnectionId;
using runtime::Connections;

class ConnectionsBounds : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data"});
        ASSERT_NE(broker_, nullptr);
        connections_ = std::make_unique<Connections>(real_schedule());
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
        client.local_address = "127.0.0.1";
        client.local_port = 2;
        connections_->note(client, "c");
        return client.id;
    }

    TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<Connections> connections_;
};

TEST_F(ConnectionsBounds, OfAConnectionBeyondThoseThatAreKnownNothingIsSaid) {
    const ConnectionId first = note();
    while (connections_->size() < Connections::kKnownMax) (void)note();
    const ConnectionId beyond = note();
    EXPECT_EQ(connections_->size(), Connections::kKnownMax);
    EXPECT_FALSE(connections_->find(beyond));
    EXPECT_TRUE(connections_->want_process(beyond)) << "there is nothing to wait for";
    EXPECT_TRUE(connections_->find(first));
    connections_->closed(first);
    EXPECT_TRUE(connections_->find(note())) << "there is a place again";
}

TEST_F(ConnectionsBounds, AWishBeyondThoseThatWaitIsTakenLater) {
    std::promise<void> gate;
    std::promise<void> is_asked;
    std::atomic<std::size_t> most = 0;
    connections_->look_up_by(
        [&, open = gate.get_future().share(), is_first = true](std::span<const runtime::LocalConnection> wanted) mutable {
            if (std::exchange(is_first, false)) is_asked.set_value();
            open.wait();
            most = std::max(most.load(), wanted.size());
            return std::vector<std::optional<expansion::ProcessIdentity>>(wanted.size());
        });
    EXPECT_FALSE(connections_->want_process(note()));
    is_asked.get_future().wait();
    // While the first one is looked for the others wait.
    ConnectionId last;
    for (std::size_t number = 0; number <= Connections::kWantedMax; ++number) {
        last = note();
        EXPECT_FALSE(connections_->want_process(last));
    }
    gate.set_value();
    // The thread rests for as long as it was kept busy, many times over.
    EXPECT_TRUE(eventually([&] { return connections_->want_process(last); }, 60));
    EXPECT_EQ(most, Connections::kWantedMax);
    // Its thread looks into this test's memory.
    connections_.reset();
}

}  // namespace
}  // namespace partita::test
