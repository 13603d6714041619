// Tests delegation tokens in a whole broker: who can log in with one, for how long, and how it changes over time and restarts.
// The conversations in tests/interop compare the answer to each request with Kafka's.

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>

#include "broker/authentication/crypto.h"
#include "protocol/messages/38_create_delegation_token.h"
#include "protocol/messages/39_renew_delegation_token.h"
#include "protocol/messages/41_describe_delegation_token.h"
#include "tests/support/broker_process.h"
#include "tests/support/sasl_client.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using namespace std::chrono_literals;
using authentication::Hash;

constexpr std::string_view kSecret = "delegation.token.secret.key=the-secret-of-tokens";
constexpr std::string_view kRefused =
    "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256";

struct Token {
    ErrorCode error = ErrorCode::none;
    std::string id;
    /// In base64, as a password.
    std::string hmac;
};

Token create(WireClient& client, std::int64_t lifetime_ms = -1) {
    const auto* const answer =
        client.call<CreateDelegationTokenResponse>(3, CreateDelegationTokenRequest{.max_lifetime_ms = lifetime_ms});
    EXPECT_NE(answer, nullptr) << client.failure();
    if (answer == nullptr) {
        return {.error = ErrorCode::unknown_server_error};
    }
    return {answer->error_code, std::string(answer->token_id), authentication::to_base64(as_text(answer->hmac))};
}

/// Gets a token of alice.
Token token_of_alice(std::uint16_t port, std::int64_t lifetime_ms = -1) {
    WireClient alice(port);
    EXPECT_EQ(plain_login(alice, "alice", "alice-secret")->error_code, ErrorCode::none);
    const Token token = create(alice, lifetime_ms);
    EXPECT_EQ(token.error, ErrorCode::none);
    return token;
}

ScramLogin token_login(std::uint16_t port, const Token& token, Hash hash = Hash::sha_256) {
    WireClient client(port);
    return scram_login(client, hash, token.id, token.hmac, true);
}

std::size_t count_told(WireClient& client) {
    const auto* const answer = client.call<DescribeDelegationTokenResponse>(3, DescribeDelegationTokenRequest{.owners = nullptr});
    EXPECT_TRUE(answer != nullptr && answer->error_code == ErrorCode::none) << client.failure();
    return answer == nullptr ? 0 : answer->tokens.count();
}

TEST(DelegationTokens, LetTheirBearersInByEitherHashButGiveThemNoFurtherTokens) {
    const auto broker = start_with_logins({std::string(kSecret)});
    ASSERT_NE(broker, nullptr);
    const Token token = token_of_alice(broker->port());
    for (const Hash hash : {Hash::sha_256, Hash::sha_512, Hash::sha_256}) {
        WireClient client(broker->port());
        const ScramLogin done = scram_login(client, hash, token.id, token.hmac, true);
        EXPECT_EQ(done.said, "served");
        EXPECT_GT(done.session_ms, 86'000'000);
        EXPECT_LE(done.session_ms, 86'400'000);
        EXPECT_EQ(create(client).error, ErrorCode::delegation_token_request_not_allowed);
    }
    WireClient as_a_user(broker->port());
    EXPECT_EQ(scram_login(as_a_user, Hash::sha_256, token.id, token.hmac).said, kRefused);
    EXPECT_EQ(token_login(broker->port(), {.id = token.id, .hmac = "d3Jvbmc="}).said, kRefused);
    EXPECT_EQ(token_login(broker->port(), {.id = "nobody", .hmac = token.hmac}).said, kRefused);
    EXPECT_EQ(broker->count_in_output(token.hmac), 0u);
    EXPECT_EQ(broker->count_in_output("the-secret-of-tokens"), 0u);
    EXPECT_EQ(broker->stop().exit_code, 0);
}

TEST(DelegationTokens, ThatHaveExpiredLetNobodyInThoughTheyAreNotRemovedYet) {
    const auto broker = start_with_logins({std::string(kSecret)});
    ASSERT_NE(broker, nullptr);
    WireClient alice(broker->port());
    ASSERT_EQ(plain_login(alice, "alice", "alice-secret")->error_code, ErrorCode::none);
    const Token token = create(alice, 1);
    const auto hmac = authentication::from_base64(token.hmac);
    const auto* renewed = alice.call<RenewDelegationTokenResponse>(2, RenewDelegationTokenRequest{.hmac = as_bytes(*hmac)});
    while (renewed != nullptr && renewed->error_code == ErrorCode::none) {
        renewed = alice.call<RenewDelegationTokenResponse>(2, RenewDelegationTokenRequest{.hmac = as_bytes(*hmac)});
    }
    ASSERT_NE(renewed, nullptr);
    EXPECT_EQ(renewed->error_code, ErrorCode::delegation_token_expired);
    EXPECT_EQ(count_told(alice), 1u);
    EXPECT_EQ(token_login(broker->port(), token).said, kRefused);
}

TEST(DelegationTokens, OutliveTheBrokerButNotTheSecret) {
    const auto with_secret = [](std::string_view secret, const std::string& directory) {
        return start_with_logins({"delegation.token.secret.key=" + std::string(secret)}, directory);
    };
    const auto broker = with_secret("one", {});
    ASSERT_NE(broker, nullptr);
    const Token token = token_of_alice(broker->port());
    broker->send_signal(SIGKILL);
    EXPECT_EQ(broker->wait().signal_number, SIGKILL);
    // The first broker owns the directory and removes it with itself.
    auto next = with_secret("one", broker->data_directory());
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(token_login(next->port(), token, Hash::sha_512).said, "served");
    EXPECT_EQ(next->stop().exit_code, 0);
    next = with_secret("another", broker->data_directory());
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(token_login(next->port(), token).said, kRefused);
    EXPECT_EQ(next->stop().exit_code, 0);
    next = with_secret("one", broker->data_directory());
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(token_login(next->port(), token).said, "served");
    EXPECT_EQ(next->stop().exit_code, 0);
}

TEST(DelegationTokens, AreNotMadeWithoutASecret) {
    const auto broker = start_with_logins({"delegation.token.secret.key="});
    ASSERT_NE(broker, nullptr);
    WireClient alice(broker->port());
    ASSERT_EQ(plain_login(alice, "alice", "alice-secret")->error_code, ErrorCode::none);
    EXPECT_EQ(create(alice).error, ErrorCode::delegation_token_auth_disabled);
    EXPECT_EQ(token_login(broker->port(), {.id = "nobody", .hmac = "eA=="}).said, kRefused);
}

}  // namespace
}  // namespace partita::test
