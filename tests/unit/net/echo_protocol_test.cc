// Tests a separate protocol on the listeners, connections and reactors that carry Kafka's: each line is a request, and its echo
// the reply. No broker and no Kafka code is behind it.

#include <gmock/gmock.h>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>

#include "broker/config/broker_config.h"
#include "broker/config/current_config.h"
#include "broker/logs/turn.h"
#include "broker/logs/turns.h"
#include "broker/net/server.h"
#include "broker/runtime/clients/client_throttles.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/clients/request_watch.h"
#include "broker/runtime/loop/counters.h"
#include "broker/runtime/loop/failure_log.h"
#include "schedule/clock.h"
#include "storage/open_files.h"
#include "tests/support/adjusted_clock.h"
#include "tests/support/memory_file_system.h"
#include "tests/support/plain_client.h"

namespace partita::net {
namespace {

constexpr std::size_t kLineBytesMax = 100;
constexpr std::int64_t kSlowBytesPerS = 50;
/// The kernel takes all of these from the server, and passes on only a part to a client that reads nothing.
constexpr std::size_t kLargeBytes = 60'000;
constexpr int kReceiveBufferBytes = 4'096;

runtime::Reply line(std::string_view text) {
    runtime::Reply reply;
    reply.bytes.append(as_bytes(text));
    reply.bytes.append(as_bytes("\n"));
    return reply;
}

/// Echoes lines. "wait" is answered when the test says so, and "bye" is the last line of a connection. "slow" is answered slowly;
/// the answer to "reset" ends within the word, and that to "large" after kLargeBytes.
class EchoFront final : public Front {
  public:
    static std::expected<FrameSize, std::string> measure(Bytes received) {
        const std::string_view text = as_text(received).substr(0, kLineBytesMax + 1);
        if (const std::size_t end = text.find('\n'); end != std::string_view::npos) {
            return FrameSize{.bytes = end + 1, .tail = 1};
        }
        if (text.size() > kLineBytesMax) {
            return std::unexpected("a line is too long");
        }
        return FrameSize{.bytes = received.size() + 1};
    }

    std::unique_ptr<ProtocolState> begin() override { return nullptr; }
    Served serve_next(logs::Turn& turn, const Speaker& speaker) override {
        auto request = speaker.conversation.next_request(measure);
        if (!request) {
            return {.outcome = Served::Outcome::refused, .reason = request.error()};
        }
        if (!*request) {
            return {};
        }
        const std::string_view text = as_text((*request)->frame);
        if (text == "wait") {
            waiting = {.reactor = turn.reactor().index(), .connection = speaker.receiver, .slot = (*request)->slot};
            has_waiting.store(true);
            return {.outcome = Served::Outcome::parked, .slot = (*request)->slot};
        }
        if (text == "slow") {
            treat(speaker, (*request)->slot, {.pace = runtime::SendPace(kSlowBytesPerS)});
        } else if (text == "reset") {
            treat(speaker, (*request)->slot, {.reset_after_bytes = 3});
        } else if (text == "large") {
            treat(speaker, (*request)->slot, {.reset_after_bytes = kLargeBytes});
            return {.outcome = Served::Outcome::replied, .slot = (*request)->slot, .reply = line(std::string(kLargeBytes, 'x'))};
        }
        const auto outcome = text == "bye" ? Served::Outcome::ended : Served::Outcome::replied;
        return {.outcome = outcome, .slot = (*request)->slot, .reply = line(text), .reason = "it said bye"};
    }
    void replied(const runtime::ClientConnection&, const runtime::Reply&) override {}
    void closed(const runtime::ClientConnection&) override { closed_count.fetch_add(1); }

    static void treat(const Speaker& speaker, std::uint64_t slot, runtime::ReplyTreatment treatment) {
        speaker.conversation.treat(slot, std::make_unique<runtime::ReplyTreatment>(std::move(treatment)));
    }

    runtime::ReplyTarget waiting;
    std::atomic<bool> has_waiting = false;
    std::atomic<int> closed_count = 0;
};

std::shared_ptr<const config::BrokerConfig> defaults() {
    return std::make_shared<const config::BrokerConfig>(config::load_broker_config({})->config);
}

class EchoProtocol : public ::testing::Test {
  protected:
    EchoProtocol() {
        const config::Listener listener{.endpoint = {.listener_name = "ECHO", .host = "127.0.0.1"}, .bind_hosts = {"127.0.0.1"}};
        const auto bound = server_.open({&listener, 1}, [this](const config::Endpoint&) {
            auto front = std::make_unique<EchoFront>();
            front_ = front.get();
            return std::expected<std::unique_ptr<Front>, std::string>(std::move(front));
        });
        server_.start();
        thread_ = std::thread([this] { turns_.first_reactor().run(); });
        // The limit ends a wait that hangs.
        const timeval patience{.tv_sec = 60, .tv_usec = 0};
        client_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ::setsockopt(client_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        ::setsockopt(client_, SOL_SOCKET, SO_RCVBUF, &kReceiveBufferBytes, sizeof kReceiveBufferBytes);
        sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(bound->front().port), .sin_addr = {}, .sin_zero = {}};
        ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
        EXPECT_EQ(::connect(client_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
    ~EchoProtocol() override {
        turns_.first_reactor().post([this] {
            server_.stop_accepting();
            server_.net_reactor(0).close_all();
            turns_.first_reactor().stop();
        });
        thread_.join();
        ::close(client_);
    }
    void send(std::string_view text) const {
        EXPECT_EQ(::send(client_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    }
    /// Waits until `size` bytes came, or the connection ended: then there is "(end)" behind them.
    [[nodiscard]] std::string receive(std::size_t size) const {
        std::string text;
        while (text.size() < size) {
            std::array<char, 4096> bytes;
            const ssize_t count = ::recv(client_, bytes.data(), std::min(bytes.size(), size - text.size()), 0);
            if (count <= 0) {
                return text + "(end)";
            }
            text.append(bytes.data(), static_cast<std::size_t>(count));
        }
        return text;
    }
    [[nodiscard]] bool is_silent(int milliseconds) const {
        pollfd descriptor{.fd = client_, .events = POLLIN, .revents = 0};
        return ::poll(&descriptor, 1, milliseconds) == 0;
    }

    test::AdjustedClock clock_;
    ThreadExecutor executor_;
    const Schedule schedule_{clock_, executor_};
    test::MemoryFileSystem files_;
    OpenFiles open_files_{files_, 16};
    config::CurrentConfig config_{defaults()};
    logs::PublishedTopics topics_;
    logs::Turns turns_{topics_, 1, 0, schedule_.clock};
    runtime::Connections connections_{schedule_};
    runtime::ClientThrottles throttles_{runtime::quota_windows(*config_.get())};
    runtime::RequestWatch requests_;
    runtime::Counters counters_;
    runtime::FailureLog failures_{schedule_.clock};
    Server server_{{config_, turns_, connections_, throttles_, requests_, open_files_, schedule_.clock, counters_, failures_},
                   schedule_};
    EchoFront* front_ = nullptr;
    std::thread thread_;
    int client_ = -1;
};

TEST_F(EchoProtocol, RepliesInTheOrderOfTheRequestsHoweverTheBytesCome) {
    send("one\ntwo\nthr");
    EXPECT_EQ(receive(8), "one\ntwo\n");
    send("ee\n\n");
    EXPECT_EQ(receive(7), "three\n\n");
}

TEST_F(EchoProtocol, NothingBehindAParkedRequestIsServedBeforeItsReply) {
    send("first\nwait\nlast\n");
    EXPECT_EQ(receive(6), "first\n");
    EXPECT_TRUE(is_silent(50));
    ASSERT_TRUE(front_->has_waiting.load()) << "what came with it was served together";
    turns_.deliver(front_->waiting, line("waited"));
    EXPECT_EQ(receive(12), "waited\nlast\n");
}

TEST_F(EchoProtocol, TheFrontEndsAConnectionWithALastReply) {
    send("bye\nmore\n");
    EXPECT_EQ(receive(100), "bye\n(end)");
    EXPECT_TRUE(test::eventually([&] { return front_->closed_count.load() == 1; })) << "it hears of the end";
    EXPECT_EQ(counters_.closed_for_bad_input.load(), 1U);
}

TEST_F(EchoProtocol, AReplyWithAPaceTakesItsTimeAndHoldsUpThoseBehindIt) {
    const Instant began = schedule_.clock.now().monotonic;
    send("slow\nquick\n");
    EXPECT_EQ(receive(5), "slow\n");
    EXPECT_GE(schedule_.clock.now().monotonic - began, 5 * 1000 / kSlowBytesPerS);
    EXPECT_EQ(receive(6), "quick\n");
}

TEST_F(EchoProtocol, AConnectionIsResetAfterTheBytesOfItsLastReply) {
    send("one\nreset\nmore\n");
    EXPECT_EQ(receive(100), "one\nres(end)");
    EXPECT_EQ(errno, ECONNRESET);
}

TEST_F(EchoProtocol, AClientThatDoesNotReadIsResetAfterAWhile) {
    send("large\n");
    ASSERT_FALSE(is_silent(60'000));
    EXPECT_EQ(front_->closed_count.load(), 0);
    clock_.shift_ms = Connection::kResetWaitMsMax;
    EXPECT_TRUE(test::eventually([&] { return front_->closed_count.load() == 1; }));
    EXPECT_TRUE(receive(kLargeBytes).ends_with("(end)"));
    EXPECT_EQ(errno, ECONNRESET);
}

TEST_F(EchoProtocol, AFrameThatTheFrontRefusesClosesTheConnectionAtOnce) {
    send("ok\n");
    EXPECT_EQ(receive(3), "ok\n");
    send(std::string(kLineBytesMax + 1, 'x'));
    EXPECT_EQ(receive(1), "(end)");
}

}  // namespace
}  // namespace partita::net
