#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/authentication/plain.h"
#include "broker/authentication/scram.h"
#include "protocol/messages/16_list_groups.h"
#include "protocol/messages/17_sasl_handshake.h"
#include "protocol/messages/36_sasl_authenticate.h"
#include "tests/support/broker_process.h"
#include "tests/support/wire_client.h"

/// Clients that log in by SASL, step by step, and a broker that requires it.
namespace partita::test {

inline constexpr std::string_view kPackage = "org.apache.kafka.common.security.";

inline constexpr std::string_view kLoginListener = "SASL_PLAINTEXT://127.0.0.1:0";

/// The settings of a broker whose only listener, `kLoginListener`, requires a login by PLAIN or SCRAM.
inline std::vector<std::string> login_overrides(const std::vector<std::string>& more = {}) {
    const std::string prefix = "listener.name.sasl_plaintext.";
    std::vector<std::string> overrides = {
        "inter.broker.listener.name=SASL_PLAINTEXT",
        "sasl.mechanism.inter.broker.protocol=PLAIN",
        "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        prefix + "plain.sasl.jaas.config=" + std::string(kPackage) +
            "plain.PlainLoginModule required user_admin=\"admin-secret\" user_alice=\"alice-secret\";",
        prefix + "scram-sha-256.sasl.jaas.config=" + std::string(kPackage) + "scram.ScramLoginModule required;",
        prefix + "scram-sha-512.sasl.jaas.config=" + std::string(kPackage) + "scram.ScramLoginModule required;",
    };
    overrides.insert(overrides.end(), more.begin(), more.end());
    return overrides;
}

/// Starts a broker with these settings.
inline std::unique_ptr<BrokerProcess> start_with_logins(const std::vector<std::string>& more = {},
                                                        const std::string& data_directory = {}) {
    BrokerProcess::Options options{.data_directory = data_directory, .choose_port = false};
    options.overrides = login_overrides(more);
    // This comes first, since `more` may set other listeners beside it.
    options.overrides.insert(options.overrides.begin(), "listeners=" + std::string(kLoginListener));
    return BrokerProcess::start(options);
}

inline const SaslHandshakeResponse* shake_hands(WireClient& client, std::string_view mechanism, std::int16_t version = 1) {
    return client.call<SaslHandshakeResponse>(version, SaslHandshakeRequest{.mechanism = mechanism});
}

inline const SaslAuthenticateResponse* say(WireClient& client, std::string_view token, std::int16_t version = 2) {
    return client.call<SaslAuthenticateResponse>(version, SaslAuthenticateRequest{.auth_bytes = as_bytes(token)});
}

/// Logs in by PLAIN and returns the broker's answer to the password.
inline const SaslAuthenticateResponse* plain_login(WireClient& client, std::string_view user, std::string_view password) {
    const SaslHandshakeResponse* const hands = shake_hands(client, "PLAIN");
    EXPECT_TRUE(hands != nullptr && hands->error_code == ErrorCode::none) << client.failure();
    return hands == nullptr ? nullptr : say(client, authentication::plain_token(user, password));
}

inline bool is_served(WireClient& client) { return client.call<ListGroupsResponse>(4, ListGroupsRequest{}) != nullptr; }

/// The result of a login by SCRAM: "served" or the refusal, and for how long.
struct ScramLogin {
    std::string said;
    std::int64_t session_ms = 0;
};

/// `by_token`: user and password are the id of a delegation token and its HMAC in base64.
inline ScramLogin scram_login(WireClient& client, authentication::Hash hash, std::string_view user, std::string_view password,
                              bool by_token = false) {
    authentication::ScramClient scram(hash, std::string(user), std::string(password), "nonce", by_token);
    if (shake_hands(client, hash == authentication::Hash::sha_256 ? "SCRAM-SHA-256" : "SCRAM-SHA-512") == nullptr) {
        return {"no handshake"};
    }
    const SaslAuthenticateResponse* first = say(client, scram.first_message());
    if (first == nullptr || first->error_code != ErrorCode::none) {
        return {std::string(first != nullptr ? *first->error_message : "closed")};
    }
    const auto proof = scram.answer(as_text(first->auth_bytes));
    const SaslAuthenticateResponse* last = proof ? say(client, *proof) : nullptr;
    if (last == nullptr || last->error_code != ErrorCode::none) {
        return {std::string(last != nullptr ? *last->error_message : "closed")};
    }
    EXPECT_TRUE(scram.check(as_text(last->auth_bytes)));
    const std::int64_t session_ms = last->session_lifetime_ms;
    return {is_served(client) ? "served" : client.failure(), session_ms};
}

}  // namespace partita::test
