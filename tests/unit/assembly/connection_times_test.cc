// Tests how long connections of a whole broker may be silent, take to log in and stay logged in. The test sets the broker's clock
// forward, so that no machine is too slow for a client with a deadline.

#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/config/log_setup.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/18_api_versions.h"
#include "protocol/messages/38_create_delegation_token.h"
#include "protocol/messages/41_describe_delegation_token.h"
#include "tests/support/adjusted_clock.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"
#include "tests/support/sasl_client.h"

#include <sys/socket.h>

namespace partita::test {
namespace {

using ::testing::HasSubstr;

/// The time limit that each test is about. No machine needs this long for the work within it, and it is shorter than the default
/// for idle connections.
constexpr std::int64_t kTimeMs = 500'000;

class ConnectionTimes : public ::testing::Test {
  protected:
    void start(std::vector<std::string> overrides, std::string_view listeners = "PLAINTEXT://127.0.0.1:0") {
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data",
                                          .overrides = std::move(overrides),
                                          .listeners = std::string(listeners),
                                          .clock = &clock_});
        ASSERT_NE(broker_, nullptr);
    }
    void start_with_logins(const std::vector<std::string>& more) {
        auto overrides = login_overrides(more);
        ASSERT_NO_FATAL_FAILURE(start(std::move(overrides), kLoginListener));
    }
    /// Sets the clock forward and lets the broker look at it and do what is due.
    void pass(std::int64_t duration_ms) {
        clock_.shift_ms += duration_ms;
        // The broker may take the first connection in a turn that began before, and then find that it was idle for long.
        (void)WireClient(broker_->port()).call<ApiVersionsResponse>(0, ApiVersionsRequest{});
        // A reply may arrive before its turn has ended, but not before the turn of the previous request has.
        for (int turn = 0; turn < 2; ++turn) {
            WireClient somebody(broker_->port());
            ASSERT_NE(somebody.call<ApiVersionsResponse>(0, ApiVersionsRequest{}), nullptr) << somebody.failure();
        }
    }
    void begin_log() {
        log::open(log::Level::info);
        ::testing::internal::CaptureStderr();
        is_log_kept_ = true;
    }
    /// Ends the broker. Returns what it wrote to its log since `begin_log`.
    std::string end_and_log() {
        broker_.reset();
        log::set_level(log::Level::off);
        is_log_kept_ = false;
        return ::testing::internal::GetCapturedStderr();
    }
    void TearDown() override {
        broker_.reset();
        if (is_log_kept_) {
            std::fputs(end_and_log().c_str(), stderr);
        }
    }

    TemporaryDirectory directory_;
    AdjustedClock clock_;
    std::unique_ptr<InProcessBroker> broker_;
    bool is_log_kept_ = false;
};

std::vector<std::byte> waiting_fetch(std::int32_t id) {
    std::array partitions{FetchRequest::FetchPartition{.partition = 0, .fetch_offset = 0, .partition_max_bytes = 1 << 26}};
    std::array topics{FetchRequest::FetchTopic{.topic = "t", .partitions = partitions}};
    return request_frame(11, FetchRequest{.max_wait_ms = 2'000'000'000, .min_bytes = 1, .topics = topics}, id);
}

TEST_F(ConnectionTimes, IdleConnectionsAreClosedAndWaitingOnesAreNot) {
    start({"connections.max.idle.ms=" + std::to_string(kTimeMs)});
    PlainClient client(broker_->port());
    ASSERT_EQ(client.create_topic("t", 1).error, ErrorCode::none);
    WireClient idle(broker_->port());
    WireClient half(broker_->port());
    WireClient waiting(broker_->port());
    const std::vector<std::byte> fetch = waiting_fetch(2);
    ASSERT_TRUE(waiting.send(fetch));
    ASSERT_TRUE(half.send(std::span(fetch).first(9)));
    ASSERT_NO_FATAL_FAILURE(pass(kTimeMs / 2));
    for (WireClient* each : {&idle, &half, &waiting}) {
        EXPECT_TRUE(each->is_silent_for(std::chrono::milliseconds(10)));
    }
    ASSERT_NO_FATAL_FAILURE(pass(kTimeMs));
    EXPECT_TRUE(idle.is_closed_within());
    EXPECT_TRUE(half.is_closed_within()) << "half a request is no reason to stay";
    PlainClient producer(broker_->port());
    ASSERT_EQ(producer.produce_value("t", 0, "v").error, ErrorCode::none);
    EXPECT_NE(waiting.read_reply(*find_api(ApiKey::fetch), 11, 2, WireClient::kPatience), nullptr) << waiting.failure();
}

TEST_F(ConnectionTimes, ClientsThatTakeNoRepliesAreClosedAndSlowOnesAreNot) {
    begin_log();
    start({"connections.max.idle.ms=" + std::to_string(kTimeMs)});
    {
        PlainClient producer(broker_->port());
        ASSERT_EQ(producer.create_topic("t", 1).error, ErrorCode::none);
        for (int i = 0; i < 12; ++i) {
            ASSERT_EQ(producer.produce_value("t", 0, std::string(900'000, 'x')).error, ErrorCode::none);
        }
    }
    constexpr int kSmallBuffer = 4096;
    WireClient silent(broker_->port(), "127.0.0.1", kSmallBuffer);
    WireClient slow(broker_->port(), "127.0.0.1", kSmallBuffer);
    ASSERT_TRUE(silent.send(waiting_fetch(1)));
    ASSERT_TRUE(slow.send(waiting_fetch(1)));
    std::vector<std::byte> piece(16'384);
    for (int look = 0; look < 5; ++look) {
        // This is more than its buffer holds, so that the client has taken something since the broker looked.
        for (std::size_t taken = 0; taken < 4 * piece.size();) {
            const ssize_t count = ::recv(slow.descriptor(), piece.data(), piece.size(), 0);
            ASSERT_GT(count, 0) << "closed at look " << look;
            taken += static_cast<std::size_t>(count);
        }
        ASSERT_NO_FATAL_FAILURE(pass(kTimeMs));
    }
    EXPECT_TRUE(silent.is_closed_within());
    EXPECT_GT(::recv(slow.descriptor(), piece.data(), piece.size(), 0), 0);
    EXPECT_THAT(end_and_log(), HasSubstr("the client does not read its replies"));
}

TEST_F(ConnectionTimes, WhoDoesNotLogInInTimeIsClosedAndWhoIsKnownStays) {
    begin_log();
    start_with_logins({"partita.authentication.time.max.ms=" + std::to_string(kTimeMs)});
    WireClient known(broker_->port());
    ASSERT_EQ(plain_login(known, "alice", "alice-secret")->error_code, ErrorCode::none);
    WireClient silent(broker_->port());
    WireClient talkative(broker_->port());
    // Its answer says that the broker has taken the two before it, too.
    WireClient halfway(broker_->port());
    ASSERT_NE(shake_hands(halfway, "SCRAM-SHA-256"), nullptr);
    // The client is not idle, but makes no progress, either.
    talkative.send(std::vector{std::byte{0}, std::byte{0}, std::byte{0}});
    ASSERT_NO_FATAL_FAILURE(pass(kTimeMs / 2));
    for (WireClient* each : {&silent, &halfway, &talkative}) {
        EXPECT_TRUE(each->is_silent_for(std::chrono::milliseconds(10))) << "there is time yet";
    }
    ASSERT_NO_FATAL_FAILURE(pass(kTimeMs / 2));
    for (WireClient* each : {&silent, &halfway, &talkative}) {
        EXPECT_TRUE(each->is_closed_within());
    }
    EXPECT_TRUE(is_served(known));
    EXPECT_THAT(end_and_log(), HasSubstr("took longer than 500000 ms (partita.authentication.time.max.ms)"));
}

TEST_F(ConnectionTimes, ASessionEndsUnlessItsClientLogsInAgain) {
    begin_log();
    start_with_logins({"connections.max.reauth.ms=" + std::to_string(kTimeMs)});
    WireClient faithful(broker_->port());
    WireClient silent(broker_->port());
    for (WireClient* client : {&faithful, &silent}) {
        const SaslAuthenticateResponse* const answer = plain_login(*client, "alice", "alice-secret");
        ASSERT_NE(answer, nullptr);
        EXPECT_EQ(answer->session_lifetime_ms, kTimeMs);
    }
    EXPECT_TRUE(is_served(faithful));
    ASSERT_NO_FATAL_FAILURE(pass(kTimeMs / 2));
    EXPECT_TRUE(is_served(silent)) << "there is time yet";
    const SaslAuthenticateResponse* const again = plain_login(faithful, "alice", "alice-secret");
    ASSERT_NE(again, nullptr) << faithful.failure();
    EXPECT_EQ(again->error_code, ErrorCode::none);
    EXPECT_EQ(again->session_lifetime_ms, kTimeMs);
    ASSERT_NO_FATAL_FAILURE(pass(kTimeMs / 2 + 1));
    EXPECT_TRUE(silent.is_silent_for(std::chrono::milliseconds(10)));
    EXPECT_TRUE(is_served(faithful));
    // The end is seen with the next request, as in Kafka.
    silent.send(request_frame(4, ListGroupsRequest{}));
    EXPECT_TRUE(silent.is_closed_within());
    EXPECT_THAT(end_and_log(), HasSubstr("the session of the login has ended"));
}

struct Token {
    std::string id;
    std::string hmac;
};

Token create_token(WireClient& client, std::int64_t lifetime_ms) {
    const auto* const answer =
        client.call<CreateDelegationTokenResponse>(3, CreateDelegationTokenRequest{.max_lifetime_ms = lifetime_ms});
    EXPECT_TRUE(answer != nullptr && answer->error_code == ErrorCode::none) << client.failure();
    if (answer == nullptr) {
        return {};
    }
    return {std::string(answer->token_id), authentication::to_base64(as_text(answer->hmac))};
}

TEST_F(ConnectionTimes, DelegationTokensEndWithTheirTimeAsDoTheSessionsOfTheirBearers) {
    begin_log();
    start_with_logins({"delegation.token.secret.key=the-secret-of-tokens", "delegation.token.expiry.check.interval.ms=50",
                       // No delay: the test sets the clock forward and does not wait for one.
                       "connection.failed.authentication.delay.ms=0"});
    WireClient alice(broker_->port());
    ASSERT_EQ(plain_login(alice, "alice", "alice-secret")->error_code, ErrorCode::none);
    const auto login = [&](WireClient& client, const Token& token) {
        return scram_login(client, authentication::Hash::sha_256, token.id, token.hmac, true);
    };
    const auto late_login = [&](const Token& token) {
        WireClient client(broker_->port());
        return login(client, token).said;
    };
    const Token lasting = create_token(alice, -1);
    const Token token = create_token(alice, kTimeMs);
    WireClient bearer(broker_->port());
    const ScramLogin done = login(bearer, token);
    EXPECT_EQ(done.said, "served");
    EXPECT_LE(done.session_ms, kTimeMs);
    EXPECT_GT(done.session_ms, kTimeMs / 2);
    ASSERT_NO_FATAL_FAILURE(pass(kTimeMs));
    // The broker removes it when it looks for expired ones.
    EXPECT_TRUE(eventually([&] {
        const auto* const told =
            alice.call<DescribeDelegationTokenResponse>(3, DescribeDelegationTokenRequest{.owners = nullptr});
        return told != nullptr && told->tokens.count() == 1;
    }));
    bearer.send(request_frame(4, ListGroupsRequest{}));
    EXPECT_TRUE(bearer.is_closed_within());
    EXPECT_EQ(late_login(token),
              "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256");
    EXPECT_EQ(late_login(lasting), "served");
    const std::string log = end_and_log();
    EXPECT_THAT(log, HasSubstr("delegation token expired"));
    const std::size_t first = log.find(token.id);
    EXPECT_NE(first, std::string::npos);
    EXPECT_EQ(log.find(token.id, first + 1), std::string::npos) << log;
}

}  // namespace
}  // namespace partita::test
