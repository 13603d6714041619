#include "broker/client/resolver.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>

#include "broker/client/tcp_network.h"

namespace partita::client {
namespace {

using Kind = TransportFailure::Kind;

constexpr std::int64_t kShortMs = 20;
constexpr std::int64_t kLongMs = 60'000;

SocketAddress loopback() {
    SocketAddress address;
    auto& internet = reinterpret_cast<sockaddr_in&>(address.bytes);
    internet.sin_family = AF_INET;
    internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.size = sizeof internet;
    return address;
}

std::uint16_t port_of(const SocketAddress& address) {
    return ntohs(reinterpret_cast<const sockaddr_in&>(address.bytes).sin_port);
}

/// A resolver of a system that hangs until it is released. Lookups may outlive the test's body, so they share it.
struct HangingSystem {
    std::promise<void> let_go;
    std::shared_future<void> gone = let_go.get_future().share();
    std::atomic<int> lookups = 0;

    static Resolver::Lookup lookup(const std::shared_ptr<HangingSystem>& system) {
        return [system](const std::string&) -> Addresses {
            ++system->lookups;
            system->gone.wait();
            return std::vector{loopback()};
        };
    }
};

class ResolverTest : public ::testing::Test {
  protected:
    ~ResolverTest() override {
        if (!was_let_go_) {
            let_go();
        }
    }
    void let_go() {
        was_let_go_ = true;
        system_->let_go.set_value();
    }
    [[nodiscard]] Instant in(std::int64_t duration_ms) { return clock_.now().monotonic + duration_ms; }
    [[nodiscard]] Addresses resolve(const std::string& host, std::int64_t duration_ms, int interruption = -1) {
        return resolver_.resolve({host, 9092}, in(duration_ms), clock_, interruption);
    }

    SystemClock clock_;
    std::shared_ptr<HangingSystem> system_ = std::make_shared<HangingSystem>();
    Resolver resolver_{HangingSystem::lookup(system_)};

  private:
    bool was_let_go_ = false;
};

TEST_F(ResolverTest, AHangingResolverHoldsNobodyBeyondTheDeadline) {
    const auto found = resolve("issuer.example", kShortMs);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, Kind::timed_out);
    EXPECT_EQ(found.error().message, "the address of issuer.example was not found in time");
}

TEST_F(ResolverTest, ANameThatHangsIsLookedUpOnceAndItsAnswerIsForWhoeverAsksNext) {
    ASSERT_FALSE(resolve("issuer.example", kShortMs));
    ASSERT_FALSE(resolve("issuer.example", kShortMs));
    let_go();
    const auto found = resolve("issuer.example", kLongMs);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->size(), 1U);
    EXPECT_EQ(port_of(found->front()), 9092);
    EXPECT_EQ(system_->lookups, 1);
    ASSERT_TRUE(resolve("issuer.example", kLongMs));
    EXPECT_EQ(system_->lookups, 2) << "an answer is used once";
}

TEST_F(ResolverTest, SoManyNamesAreLookedUpAtOnceAndNoMore) {
    for (std::size_t number = 0; number < Resolver::kLookupsMax; ++number) {
        ASSERT_FALSE(resolve("host-" + std::to_string(number), kShortMs));
    }
    const auto refused = resolve("one-more", kLongMs);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "4 other names are being looked up, which takes too long");
    let_go();
    for (std::size_t number = 0; number < Resolver::kLookupsMax; ++number) {
        EXPECT_TRUE(resolve("host-" + std::to_string(number), kLongMs));
    }
    EXPECT_TRUE(resolve("one-more", kLongMs)) << "there is room again";
}

TEST_F(ResolverTest, WhoeverEndsWaitsEndsThatForAName) {
    const int end = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    ASSERT_GE(end, 0);
    const auto found = resolve("issuer.example", kLongMs, end);
    ::close(end);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, Kind::interrupted);
}

TEST_F(ResolverTest, AnAddressThatIsANumberIsNotLookedUp) {
    const auto found = resolve("127.0.0.1", kShortMs);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(port_of(found->front()), 9092);
    EXPECT_TRUE(resolve("::1", kShortMs));
    EXPECT_EQ(system_->lookups, 0);
}

TEST_F(ResolverTest, TheNetworksConnectHasOneDeadlineForNameAndConnection) {
    TcpNetwork network(HangingSystem::lookup(system_));
    const auto connected = network.connect({"issuer.example", 443}, in(kShortMs));
    ASSERT_FALSE(connected);
    EXPECT_EQ(connected.error().kind, Kind::timed_out);
}

TEST(SystemsResolver, SaysWhyANameHasNoAddress) {
    SystemClock clock;
    Resolver resolver;
    EXPECT_TRUE(resolver.resolve({"localhost", 1}, clock.now().monotonic + kLongMs, clock));
    const auto unknown = resolver.resolve({"no such name", 1}, clock.now().monotonic + kLongMs, clock);
    ASSERT_FALSE(unknown);
    // The error depends on whether a name server can be reached.
    EXPECT_TRUE(unknown.error().kind == Kind::unknown_host || unknown.error().kind == Kind::refused) << unknown.error().message;
    EXPECT_FALSE(unknown.error().message.empty());
}

}  // namespace
}  // namespace partita::client
