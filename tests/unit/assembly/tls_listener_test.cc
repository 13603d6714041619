// Listeners of SSL and SASL_SSL, in the process of the test.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/runtime/clients/request_watch.h"
#include "broker/runtime/loop/counters.h"
#include "tests/support/adjusted_clock.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"
#include "tests/unit/tls/stores.h"
#include "tests/unit/tls/tls_client.h"

namespace partita::test {
namespace {

using ::testing::HasSubstr;

/// ApiVersions v0 of no client id, and how its reply begins.
constexpr std::string_view kRequest("\0\0\0\x0a\0\x12\0\0\0\0\0\x07\xff\xff", 14);
constexpr std::string_view kReplyBegins("\0\0\0\x07\0\0", 6);

/// The time for handshakes (partita.authentication.time.max.ms) in the tests about it. Any machine does its work within this
/// time, and by default connections may be idle for longer.
constexpr std::int64_t kTimeMs = 500'000;

class TlsListener : public ::testing::Test {
  protected:
    // The program ignores this signal, too: OpenSSL writes to sockets whose peer may be gone.
    void SetUp() override { ::signal(SIGPIPE, SIG_IGN); }

    void start(const std::string& protocol, std::vector<std::string> overrides = {}, net::reactor_choice::Limits placement = {}) {
        const std::string prefix = "listener.name." + std::string(protocol == "SSL" ? "ssl" : "sasl_ssl") + ".";
        overrides.push_back("inter.broker.listener.name=" + protocol);
        overrides.push_back(prefix + "ssl.keystore.location=" + store_path("server.jks"));
        overrides.push_back(prefix + "ssl.keystore.password=store-secret");
        overrides.push_back(prefix + "ssl.key.password=key-secret");
        overrides.push_back(prefix + "ssl.truststore.location=" + store_path("trust.jks"));
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data",
                                          .overrides = std::move(overrides),
                                          .listeners = protocol + "://127.0.0.1:0",
                                          .placement = placement,
                                          .clock = &clock_});
        ASSERT_NE(broker_, nullptr);
    }

    /// Waits until the descriptor has something to read; false when it hangs.
    static bool wait_readable(int descriptor) {
        pollfd wanted{.fd = descriptor, .events = POLLIN, .revents = 0};
        return ::poll(&wanted, 1, static_cast<int>(WireClient::kPatience.count())) == 1;
    }
    /// False when it has failed.
    static bool shake_hands(TlsClient& client, int descriptor) {
        int result = 0;
        while ((result = client.go_on()) == 0 && wait_readable(descriptor)) {
        }
        return result == 1;
    }
    /// Receives at least `bytes` bytes; less when the connection is over.
    static std::string receive(TlsClient& client, int descriptor, std::size_t bytes) {
        std::string all;
        while (all.size() < bytes) {
            const std::string some = client.receive();
            if (some.empty() && (client.is_over() || !wait_readable(descriptor))) {
                break;
            }
            all += some;
        }
        return all;
    }
    /// Returns everything that comes until the broker closes the connection.
    static std::string receive_to_end(int descriptor) {
        std::string all;
        char byte = 0;
        while (wait_readable(descriptor) && ::recv(descriptor, &byte, 1, 0) == 1) {
            all += byte;
        }
        return all;
    }
    [[nodiscard]] int connect() { return connect_nonblocking(broker_->port()); }

    static int connect_nonblocking(std::uint16_t port) {
        const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        connect_to(descriptor, port);
        return descriptor;
    }
    /// It does not block from then on.
    static void connect_to(int descriptor, std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(::fcntl(descriptor, F_SETFL, O_NONBLOCK), 0);
    }
    /// Clients notice the refusal before the broker counts it.
    [[nodiscard]] bool are_refused(std::uint64_t count) const {
        return eventually([&] { return broker_->services().upkeep.counters.closed_for_bad_input.load() >= count; });
    }

    TemporaryDirectory directory_;
    AdjustedClock clock_;
    std::unique_ptr<InProcessBroker> broker_;
};

TEST_F(TlsListener, ServesRequestsAfterTheHandshake) {
    start("SSL");
    const int socket = connect();
    TlsClient client(socket, {});
    ASSERT_TRUE(shake_hands(client, socket));
    // Sends several requests in one record, and one cut in two.
    std::string requests;
    for (int each = 0; each < 50; ++each) {
        requests += kRequest;
    }
    ASSERT_TRUE(client.send(requests.substr(0, 700 - 5)));
    ASSERT_TRUE(client.send(requests.substr(700 - 5)));
    const std::string first = receive(client, socket, 4);
    ASSERT_GE(first.size(), 10u);
    EXPECT_EQ(first.substr(4, 6), kReplyBegins);
    const std::size_t reply_bytes = 4 + static_cast<unsigned char>(first[2]) * 256u + static_cast<unsigned char>(first[3]);
    const std::string rest = receive(client, socket, 50 * reply_bytes - first.size());
    EXPECT_EQ(first.size() + rest.size(), 50 * reply_bytes);
    ::close(socket);
}

TEST_F(TlsListener, AHandshakeThatBeginsWhileTheBrokerLooksForItIsServed) {
    start("SSL");
    // Each client waits a little longer than the one before, so that some hellos arrive just while the broker takes the
    // connection.
    for (int wait_us = 0; wait_us < 300; ++wait_us) {
        const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        TlsClient client(socket, {});
        connect_to(socket, broker_->port());
        const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(wait_us);
        while (std::chrono::steady_clock::now() < until) {
        }
        ASSERT_TRUE(shake_hands(client, socket));
        // A client of TLS 1.3 is done before the broker is.
        ASSERT_TRUE(client.send(kRequest));
        EXPECT_EQ(receive(client, socket, 10).substr(4, 6), kReplyBegins) << "after " << wait_us << " us";
        ::close(socket);
    }
}

TEST_F(TlsListener, ARequestInManyRecordsAndAReplyBeyondTheSocketsBuffersPass) {
    start("SSL");
    const int socket = connect();
    TlsClient client(socket, {});
    ASSERT_TRUE(shake_hands(client, socket));
    // A header with a client id of 30,000 bytes. The first bytes come in separate records.
    std::string request("\0\0\0\0\0\x12\0\0\0\0\0\x07", 12);
    const std::string id(30'000, 'x');
    request += static_cast<char>(id.size() >> 8u);
    request += static_cast<char>(id.size() & 0xffu);
    request += id;
    const std::size_t size = request.size() - 4;
    request[2] = static_cast<char>(size >> 8u);
    request[3] = static_cast<char>(size & 0xffu);
    for (int each = 0; each < 20; ++each) {
        ASSERT_TRUE(client.send(request.substr(static_cast<std::size_t>(each), 1)));
    }
    ASSERT_TRUE(client.send(request.substr(20, 10'000)));
    ASSERT_TRUE(client.send(request.substr(10'020, 10'000)));
    ASSERT_TRUE(client.send(request.substr(20'020)));
    EXPECT_EQ(receive(client, socket, 10).substr(4, 6), kReplyBegins);
    ::close(socket);
}

TEST_F(TlsListener, AConnectionThatMovesToAnotherThreadGoesOn) {
    // With these settings any activity makes a reactor busy.
    start("SSL", {}, {.busy_permille = 1, .gap_permille = 1, .settle_ms = 50, .spare_permille = 0});
    struct Open {
        int socket;
        std::unique_ptr<TlsClient> client;
    };
    std::vector<Open> open;
    for (int each = 0; each < 4; ++each) {
        const int socket = connect();
        open.push_back({socket, std::make_unique<TlsClient>(socket, TlsClient::Wishes{})});
        ASSERT_TRUE(shake_hands(*open.back().client, socket));
    }
    const std::string request(kRequest);
    // Exchanges a request, and half of the next one in the same record, so that a moving connection always has something to take
    // along.
    const auto exchange = [&] {
        for (const Open& each : open) {
            ASSERT_TRUE(each.client->send(request + request.substr(0, 7)));
            const std::string first = receive(*each.client, each.socket, 10);
            ASSERT_EQ(first.substr(4, 6), kReplyBegins);
            ASSERT_TRUE(each.client->send(request.substr(7)));
            ASSERT_EQ(receive(*each.client, each.socket, first.size()), first);
        }
    };
    const auto& reactors = broker_->services().turns.reactors();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (reactors[1]->receiver_count() == 0) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "no connection moves";
        ASSERT_NO_FATAL_FAILURE(exchange());
    }
    for (int more = 0; more < 100; ++more) {
        ASSERT_NO_FATAL_FAILURE(exchange());
    }
    for (const Open& each : open) {
        ::close(each.socket);
    }
}

TEST_F(TlsListener, WhoHasToLogInIsServedNothingBefore) {
    start("SASL_SSL", {"sasl.enabled.mechanisms=PLAIN", "sasl.mechanism.inter.broker.protocol=PLAIN",
                       "listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule "
                       "required user_a=\"b\";"});
    const int socket = connect();
    TlsClient client(socket, {});
    ASSERT_TRUE(shake_hands(client, socket));
    ASSERT_TRUE(client.send(kRequest));
    EXPECT_EQ(receive(client, socket, 10).substr(4, 6), kReplyBegins);
    // Metadata.
    ASSERT_TRUE(client.send(std::string_view("\0\0\0\x0e\0\x03\0\x01\0\0\0\x08\xff\xff\xff\xff\xff\xff", 18)));
    while (SSL_get_shutdown(&client.connection()) == 0 && wait_readable(socket)) {
        EXPECT_EQ(client.receive(), "");
    }
    EXPECT_NE(SSL_get_shutdown(&client.connection()), 0);
    ::close(socket);
}

TEST_F(TlsListener, ClientsWithoutTlsAreToldAndClosed) {
    start("SSL");
    const int socket = connect();
    ASSERT_EQ(::send(socket, kRequest.data(), kRequest.size(), 0), static_cast<ssize_t>(kRequest.size()));
    EXPECT_EQ(receive_to_end(socket), std::string_view("\x15\x03\x03\0\2\2\x0a", 7)) << "a fatal alert";
    EXPECT_TRUE(are_refused(1));
    ::close(socket);
    const int http = connect();
    ASSERT_EQ(::send(http, "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
    EXPECT_EQ(receive_to_end(http).size(), 7u);
    EXPECT_TRUE(are_refused(2));
    ::close(http);
}

TEST_F(TlsListener, OldVersionsAndMissingCertificatesAreRefused) {
    start("SSL", {"ssl.client.auth=required"});
    int socket = connect();
    TlsClient old(socket, {.version_min = TLS1_1_VERSION, .version_max = TLS1_1_VERSION});
    EXPECT_FALSE(shake_hands(old, socket));
    EXPECT_TRUE(are_refused(1));
    ::close(socket);
    socket = connect();
    TlsClient nobody(socket, {.version_max = TLS1_2_VERSION});
    EXPECT_FALSE(shake_hands(nobody, socket));
    ::close(socket);
    const auto material = tls::load_key_material(configs_of({{"ssl.keystore.type", "PEM"},
                                                             {"ssl.keystore.key", store_text("server.key")},
                                                             {"ssl.keystore.certificate.chain", store_text("chain.pem")}}));
    socket = connect();
    TlsClient known(socket, {.key = &material->keys[0]});
    ASSERT_TRUE(shake_hands(known, socket));
    ASSERT_TRUE(known.send(kRequest));
    EXPECT_EQ(receive(known, socket, 10).substr(4, 6), kReplyBegins);
    ::close(socket);
}

TEST_F(TlsListener, WhoLogsInBySaslIsLetInByACertificateThatNoRuleFits) {
    start("SASL_SSL", {"sasl.enabled.mechanisms=PLAIN", "sasl.mechanism.inter.broker.protocol=PLAIN",
                       "listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule "
                       "required user_a=\"b\";",
                       "listener.name.sasl_ssl.ssl.client.auth=required", "ssl.principal.mapping.rules=RULE:^UID=(.*)$/$1/"});
    const auto material = tls::load_key_material(configs_of({{"ssl.keystore.type", "PEM"},
                                                             {"ssl.keystore.key", store_text("server.key")},
                                                             {"ssl.keystore.certificate.chain", store_text("chain.pem")}}));
    const int socket = connect();
    TlsClient client(socket, {.key = &material->keys[0]});
    ASSERT_TRUE(shake_hands(client, socket));
    ASSERT_TRUE(client.send(kRequest));
    EXPECT_EQ(receive(client, socket, 10).substr(4, 6), kReplyBegins);
    ::close(socket);
}

TEST_F(TlsListener, AHandshakeThatStallsIsEndedInTime) {
    start("SSL", {"partita.authentication.time.max.ms=500000"});
    const int silent = connect();
    const int half = connect();
    ASSERT_EQ(::send(half, "\x16\x03\x01", 3, 0), 3);
    // The broker has taken both when it has served a later client.
    const int other = connect();
    TlsClient client(other, {});
    ASSERT_TRUE(shake_hands(client, other));
    clock_.shift_ms = kTimeMs / 2;
    ASSERT_TRUE(client.send(kRequest));
    EXPECT_EQ(receive(client, other, 10).substr(4, 6), kReplyBegins);
    EXPECT_EQ(broker_->services().upkeep.counters.closed_for_bad_input.load(), 0u) << "there is time yet";
    clock_.shift_ms = kTimeMs;
    const int later = connect();  // This event makes the broker look at its clock.
    EXPECT_EQ(receive_to_end(silent), "");
    EXPECT_EQ(receive_to_end(half), "");
    EXPECT_TRUE(are_refused(2));
    ASSERT_TRUE(client.send(kRequest));
    EXPECT_EQ(receive(client, other, 10).substr(4, 6), kReplyBegins);
    for (const int each : {silent, half, other, later}) {
        ::close(each);
    }
}

TEST_F(TlsListener, HandshakeAndLoginHaveOneTimeTogether) {
    start("SASL_SSL", {"sasl.enabled.mechanisms=PLAIN", "sasl.mechanism.inter.broker.protocol=PLAIN",
                       "listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule "
                       "required user_a=\"b\";",
                       "partita.authentication.time.max.ms=500000"});
    const int socket = connect();
    TlsClient client(socket, {});
    // The handshake begins, and goes on late.
    ASSERT_TRUE(client.say_hello());
    ASSERT_TRUE(wait_readable(socket)) << "the broker has begun, too";
    clock_.shift_ms = kTimeMs / 4 * 3;
    ASSERT_TRUE(shake_hands(client, socket));
    ASSERT_TRUE(client.send(kRequest));
    EXPECT_EQ(receive(client, socket, 10).substr(4, 6), kReplyBegins);
    clock_.shift_ms = kTimeMs;
    const int later = connect();  // This event makes the broker look at its clock.
    while (SSL_get_shutdown(&client.connection()) == 0 && wait_readable(socket)) {
        (void)client.receive();
    }
    EXPECT_NE(SSL_get_shutdown(&client.connection()), 0) << "a quarter of it after the handshake";
    EXPECT_TRUE(are_refused(1));
    for (const int each : {socket, later}) {
        ::close(each);
    }
}

TEST_F(TlsListener, TheOldestOfTooManyHandshakesIsEnded) {
    constexpr std::size_t kWaitingMax = 20;
    start("SSL", {"partita.authentication.waiting.max=20"});
    std::vector<int> stalled;
    // As no reactor is busy, the first one has all of them.
    for (std::size_t each = 0; each <= kWaitingMax; ++each) {
        stalled.push_back(connect());
    }
    ASSERT_TRUE(wait_readable(stalled.front()));
    EXPECT_EQ(receive_to_end(stalled.front()), "");
    EXPECT_TRUE(are_refused(1));
    const int socket = connect();
    TlsClient client(socket, {});
    EXPECT_TRUE(shake_hands(client, socket)) << "whoever means it is served";
    ::close(socket);
    for (const int each : stalled) {
        ::close(each);
    }
}

TEST_F(TlsListener, AListenerWithoutAKeyIsRefusedAtTheStartInOneLine) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(InProcessBroker::start({.data_directory = directory_ / "other",
                                      .overrides = {"inter.broker.listener.name=SSL"},
                                      .listeners = "SSL://127.0.0.1:0"}),
              nullptr);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                HasSubstr("listener SSL: the key store is missing: set ssl.keystore.location"));
}

}  // namespace
}  // namespace partita::test
