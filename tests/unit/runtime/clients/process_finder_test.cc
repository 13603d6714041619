#include "broker/runtime/clients/process_finder.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

namespace partita::runtime {
namespace {

using namespace std::string_literals;

/// A listener on the loopback, and clients of it.
class ProcessFinderTest : public testing::Test {
  protected:
    void SetUp() override {
        listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address = loopback(0);
        ASSERT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        ASSERT_EQ(::listen(listener_, 8), 0);
        port_ = port_of(listener_);
    }
    void TearDown() override { ::close(listener_); }

    static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        return address;
    }
    static std::uint16_t port_of(int socket) {
        sockaddr_in address{};
        socklen_t size = sizeof address;
        ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
        return ntohs(address.sin_port);
    }
    int connect() const {
        const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address = loopback(port_);
        EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        return socket;
    }
    LocalConnection ends(std::uint16_t client_port) const { return {"127.0.0.1", client_port, "127.0.0.1", port_}; }
    /// A child that connects, and lives until the other end of its pipe is closed.
    struct Child {
        pid_t pid = 0;
        std::uint16_t port = 0;
        int alive = -1;
    };
    Child fork_client() const {
        std::array<int, 2> told{};
        std::array<int, 2> alive{};
        EXPECT_EQ(::pipe(told.data()), 0);
        EXPECT_EQ(::pipe(alive.data()), 0);
        Child child{.pid = ::fork(), .alive = alive[1]};
        if (child.pid == 0) {
            ::close(alive[1]);
            const std::uint16_t port = port_of(connect());
            char end = 0;
            const bool is_told = ::write(told[1], &port, sizeof port) == sizeof port;
            ::_exit(is_told && ::read(alive[0], &end, 1) == 0 ? 0 : 1);
        }
        ::close(alive[0]);
        ::close(told[1]);
        EXPECT_EQ(::read(told[0], &child.port, sizeof child.port), static_cast<ssize_t>(sizeof child.port));
        ::close(told[0]);
        return child;
    }

    int listener_ = -1;
    std::uint16_t port_ = 0;
    ProcessFinder finder_;
};

TEST_F(ProcessFinderTest, TellsTwoProcessesOfOneMachineApart) {
    const int own = connect();
    const Child child = fork_client();
    const std::array connections{ends(port_of(own)), ends(child.port)};
    const auto found = finder_.find(connections);
    ASSERT_TRUE(found[0]);
    ASSERT_TRUE(found[1]);
    // The child has inherited this process's socket, and this process is older.
    EXPECT_EQ(found[0]->pid, ::getpid());
    EXPECT_EQ(found[1]->pid, child.pid);
    EXPECT_FALSE(*found[0] == *found[1]);
    EXPECT_FALSE(found[0]->name.empty());
    EXPECT_FALSE(ProcessFinder::has_ended(*found[1]));
    ::close(child.alive);
    // It is a zombie for a moment, and then gone.
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOWAIT), 0);
    EXPECT_TRUE(ProcessFinder::has_ended(*found[1]));
    ASSERT_EQ(::waitpid(child.pid, nullptr, 0), child.pid);
    EXPECT_TRUE(ProcessFinder::has_ended(*found[1]));
    ::close(own);
}

TEST_F(ProcessFinderTest, SocketThatIsNotOfThisMachineIsUnknown) {
    const std::array connections{ends(1), LocalConnection{"10.1.2.3", 5, "10.1.2.4", 6},
                                 LocalConnection{"nonsense", 5, "127.0.0.1", port_},
                                 LocalConnection{"::1", 5, "127.0.0.1", port_}};
    for (const auto& found : finder_.find(connections)) {
        EXPECT_FALSE(found);
    }
}

TEST_F(ProcessFinderTest, OwnerBeyondTheDescriptorsThatAreLookedAtIsUnknown) {
    const int own = connect();
    const std::array connections{ends(port_of(own))};
    EXPECT_FALSE(finder_.find(connections, 0)[0]);
    EXPECT_FALSE(finder_.find(connections, 1)[0]) << "the first descriptor of the first process is none of ours";
    EXPECT_TRUE(finder_.find(connections, ProcessFinder::kDescriptorsMax)[0]);
    ::close(own);
}

TEST_F(ProcessFinderTest, LaterProcessOfTheSameIdIsAnother) {
    const int own = connect();
    const std::array connections{ends(port_of(own))};
    auto found = finder_.find(connections);
    ASSERT_TRUE(found[0]);
    EXPECT_FALSE(ProcessFinder::has_ended(*found[0]));
    found[0]->start_ticks += 1;
    EXPECT_TRUE(ProcessFinder::has_ended(*found[0]));
    ::close(own);
}

TEST(ProgramOf, IsWhatAnInterpreterRuns) {
    EXPECT_EQ(ProcessFinder::program_of("java\0-Xmx1g\0-Dpassword=secret\0-jar\0/opt/shop.jar\0--token\0secret\0"s), "shop.jar");
    EXPECT_EQ(ProcessFinder::program_of("/usr/bin/java\0-cp\0/opt/a.jar:/opt/b.jar\0org.shop.Main\0secret\0"s), "org.shop.Main");
    EXPECT_EQ(ProcessFinder::program_of("java\0@options\0-m\0shop/org.shop.Main\0"s), "org.shop.Main");
    EXPECT_EQ(ProcessFinder::program_of("python3\0-u\0/srv/billing.py\0--password\0secret\0"s), "billing.py");
    EXPECT_EQ(ProcessFinder::program_of("python3.11\0-X\0dev\0-m\0billing\0"s), "billing");
    EXPECT_EQ(ProcessFinder::program_of("node\0--require\0./tracing.js\0server.js\0"s), "server.js");
    EXPECT_EQ(ProcessFinder::program_of("dotnet\0exec\0/app/Shop.dll\0"s), "Shop.dll");
}

TEST(ProgramOf, IsNeverCodeOrAnArgument) {
    EXPECT_EQ(ProcessFinder::program_of("python3\0-c\0password='secret'\0"s), "");
    EXPECT_EQ(ProcessFinder::program_of("node\0-e\0let secret\0"s), "");
    EXPECT_EQ(ProcessFinder::program_of("kcat\0-X\0sasl.password=secret\0-t\0orders\0"s), "");
    EXPECT_EQ(ProcessFinder::program_of("java\0-jar\0"s), "");
    EXPECT_EQ(ProcessFinder::program_of(""), "");
}

TEST(ProgramOf, IsShortAndPrintable) {
    const std::string long_name = "python3\0"s + std::string(500, 'x') + "\0"s;
    EXPECT_EQ(ProcessFinder::program_of(long_name).size(), ProcessFinder::kProgramBytesMax);
    EXPECT_EQ(ProcessFinder::program_of("python3\0a\nb\x1b[31m.py\0"s), "a?b?[31m.py");
}

TEST(Forwarders, AreNobody) {
    EXPECT_TRUE(ProcessFinder::is_forwarder("docker-proxy"));
    EXPECT_TRUE(ProcessFinder::is_forwarder("sshd-session"));
    EXPECT_FALSE(ProcessFinder::is_forwarder("java"));
    EXPECT_FALSE(ProcessFinder::is_forwarder("sshop"));
}

}  // namespace
}  // namespace partita::runtime
