// Tests that connections from this machine begin without pacing: a congestion control that is set later does not end the pacing
// (Linux).

#include <gmock/gmock.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <optional>

#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

constexpr const char* kUnpaced = "reno";

std::string congestion_control_of(int descriptor) {
    std::array<char, 16> name{};
    socklen_t size = name.size();
    return ::getsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) == 0 ? name.data() : "";
}

/// Returns the congestion control of a new socket.
std::string usual_congestion_control() {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const std::string name = congestion_control_of(descriptor);
    ::close(descriptor);
    return name;
}

/// Congestion controls of this process's sockets that are bound to `port`.
struct Sockets {
    std::vector<std::string> listening;
    std::vector<std::string> accepted;
};

Sockets sockets_at(std::uint16_t port) {
    Sockets sockets;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int descriptor = std::stoi(entry.path().filename());
        sockaddr_in address{};
        socklen_t size = sizeof address;
        if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.sin_family != AF_INET ||
            ntohs(address.sin_port) != port) {
            continue;
        }
        int listens = 0;
        size = sizeof listens;
        ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
        (listens != 0 ? sockets.listening : sockets.accepted).push_back(congestion_control_of(descriptor));
    }
    return sockets;
}

/// Returns an address of this machine that is not on the loopback.
std::optional<sockaddr_in> own_address() {
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0) {
        return std::nullopt;
    }
    std::optional<sockaddr_in> found;
    for (const ifaddrs* each = all; each != nullptr && !found; each = each->ifa_next) {
        if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) {
            continue;
        }
        sockaddr_in address{};
        std::memcpy(&address, each->ifa_addr, sizeof address);
        if (ntohl(address.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET) {
            found = address;
        }
    }
    ::freeifaddrs(all);
    return found;
}

class CongestionControl : public ::testing::Test {
  protected:
    void start(const std::string& listeners) {
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data", .listeners = listeners});
        ASSERT_NE(broker_, nullptr);
    }

    TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
};

TEST_F(CongestionControl, ConnectionsOnLoopbackInheritOneThatDoesNotPace) {
    start("PLAINTEXT://127.0.0.1:0");
    PlainClient client(broker_->port());
    ASSERT_TRUE(client.metadata()) << "it is accepted by then";
    const Sockets sockets = sockets_at(broker_->port());
    EXPECT_THAT(sockets.listening, testing::ElementsAre(kUnpaced));
    EXPECT_THAT(sockets.accepted, testing::ElementsAre(kUnpaced));
}

TEST_F(CongestionControl, ConnectionsFromElsewhereHaveTheSystemsOwn) {
    auto address = own_address();
    if (!address) {
        GTEST_SKIP() << "this machine has no address but its loopback's";
    }
    start("PLAINTEXT://0.0.0.0:0");
    address->sin_port = htons(broker_->port());
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::connect(descriptor, reinterpret_cast<const sockaddr*>(&*address), sizeof *address), 0);
    // Connections are accepted in their order.
    PlainClient client(broker_->port());
    ASSERT_TRUE(client.metadata());
    EXPECT_THAT(sockets_at(broker_->port()).accepted, testing::UnorderedElementsAre(usual_congestion_control(), kUnpaced));
    ::close(descriptor);
}

}  // namespace
}  // namespace partita::test
