#include "broker/net/refused_connections.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tests/simulation/broker_world_schedule.h"

namespace partita::net {
namespace {

using test::VirtualClock;

/// Two ends of a connection: one as a server has it, the other as a descriptor of the client.
class RefusedConnectionsTest : public ::testing::Test {
  protected:
    ~RefusedConnectionsTest() override {
        for (const int client : clients_) {
            ::close(client);
        }
    }
    Socket connect() {
        std::array<int, 2> ends{};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
        clients_.push_back(ends[1]);
        Socket socket(reactor_.context());
        socket.assign(boost::asio::ip::tcp::v4(), ends[0]);
        return socket;
    }
    [[nodiscard]] bool is_open(std::size_t client) const {
        char byte = 0;
        return ::recv(clients_[client], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
    }

    VirtualClock clock_;
    runtime::PollingSeats no_seats_{0};
    runtime::Reactor reactor_{0, clock_, no_seats_};
    RefusedConnections refused_{reactor_};
    std::vector<int> clients_;
};

TEST_F(RefusedConnectionsTest, AreClosedWhenTheirTimeHasComeAndNotBefore) {
    const Instant now = clock_.now().monotonic;
    refused_.hold(connect(), now, 60'000);
    refused_.hold(connect(), now, 20);
    EXPECT_EQ(reactor_.step(), now + 20) << "the nearer one is waited for";
    EXPECT_TRUE(is_open(0) && is_open(1));
    clock_.advance_by(19);
    (void)reactor_.step();
    EXPECT_TRUE(is_open(1));
    clock_.advance_by(1);
    EXPECT_EQ(reactor_.step(), now + 60'000);
    EXPECT_TRUE(is_open(0));
    EXPECT_FALSE(is_open(1));
    refused_.close_all();
    EXPECT_FALSE(is_open(0));
}

TEST_F(RefusedConnectionsTest, AreBoundedAndTheOneWhoseTimeIsNearestMakesRoom) {
    const Instant now = clock_.now().monotonic;
    for (std::size_t n = 0; n <= RefusedConnections::kHeldMax; ++n) {
        refused_.hold(connect(), now, static_cast<std::int64_t>(60'000 + n));
    }
    EXPECT_EQ(refused_.count(), RefusedConnections::kHeldMax);
    EXPECT_FALSE(is_open(0));
    EXPECT_TRUE(is_open(1));
}

}  // namespace
}  // namespace partita::net
