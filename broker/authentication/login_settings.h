#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "broker/authentication/jwt.h"
#include "broker/authentication/key_source.h"
#include "broker/authentication/plain.h"

namespace partita::authentication {

enum class Mechanism : std::uint8_t { plain, scram_sha_256, scram_sha_512, oauth_bearer };

/// "SCRAM-SHA-256".
[[nodiscard]] std::string_view mechanism_name(Mechanism mechanism);
[[nodiscard]] std::optional<Mechanism> parse_mechanism(std::string_view name);

/// The login settings of one listener's clients. Immutable, shared by the connections.
struct LoginSettings {
    struct Offer {
        Mechanism mechanism{};
        /// connections.max.reauth.ms: the time after which a client has to log in again. 0: never.
        std::int64_t session_ms_max = 0;
    };

    /// sasl.enabled.mechanisms, in the order in which Kafka lists them to clients.
    std::vector<Offer> offers;
    PlainUsers users;
    /// The keys of connection strings, under the profile of a service that has these. Null if PLAIN has only users.
    std::optional<AccessKeys> access_keys;
    /// How to check OAUTHBEARER tokens; empty without that mechanism.
    std::variant<std::monostate, UnsecuredTokens, SignedTokens> tokens;
    /// sasl.server.max.receive.size: limit of a request before authentication.
    std::int32_t receive_bytes_max = 524288;
    /// delegation.token.secret.key: enables SCRAM logins with the tokens made from it. Empty: no delegation tokens.
    std::string token_secret;
    /// connection.failed.authentication.delay.ms: the delay of the answer and the end after a failed login.
    std::int32_t failure_delay_ms = 100;

    /// Null if the mechanism is not offered.
    [[nodiscard]] const Offer* find(std::string_view mechanism) const;
};

/// The source of a listener's settings.
struct LoginConfigs {
    /// Upper case: "SASL_PLAINTEXT".
    std::string listener;
    /// The configured text, or the default. Null if there is neither. Names as in server.properties, with the listener's prefix
    /// where there is one.
    std::function<std::optional<std::string>(std::string_view name)> value;
    /// The content of a file, or why it cannot be read.
    std::function<std::expected<std::string, std::string>(const std::string& path)> read_file;
    /// Keys that are fetched over HTTP, now and again later, or the reason why this is impossible: one line with the name of the
    /// config.
    std::function<std::expected<std::shared_ptr<KeySource>, std::string>(KeySetPlace place)> fetch_keys;
};

/// The error is one line for people: it names the config, and contains no secret.
[[nodiscard]] std::expected<LoginSettings, std::string> make_login_settings(const LoginConfigs& configs);

/// The order in which Kafka lists mechanisms: that of a java.util.HashSet.
[[nodiscard]] std::vector<std::string> in_told_order(std::vector<std::string> mechanisms);

}  // namespace partita::authentication
