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

/// How the clients of one listener log in. Immutable, shared by the connections.
struct LoginSettings {
    struct Offer {
        Mechanism mechanism{};
        /// connections.max.reauth.ms: after so long a client has to log in again. 0: never.
        std::int64_t session_ms_max = 0;
    };

    /// sasl.enabled.mechanisms, in the order in which Kafka names them to clients.
    std::vector<Offer> offers;
    PlainUsers users;
    /// What connection strings are checked against, under a profile of a service that knows these. Null where PLAIN has users
    /// alone.
    std::optional<AccessKeys> access_keys;
    /// How tokens of OAUTHBEARER are checked; nothing when that is not offered.
    std::variant<std::monostate, UnsecuredTokens, SignedTokens> tokens;
    /// sasl.server.max.receive.size: of a request before the client is known.
    std::int32_t receive_bytes_max = 524288;
    /// delegation.token.secret.key: clients log in by SCRAM with the tokens that it makes. Empty: there are none.
    std::string token_secret;
    /// connection.failed.authentication.delay.ms: how long whoever failed waits for the answer and the end.
    std::int32_t failure_delay_ms = 100;

    /// Null when it is not offered.
    [[nodiscard]] const Offer* find(std::string_view mechanism) const;
};

/// Where the settings of a listener come from.
struct LoginConfigs {
    /// Upper case: "SASL_PLAINTEXT".
    std::string listener;
    /// The text that was given for a config, or its default. Null when it has none. Names as they stand in server.properties,
    /// with the listener's prefix where there is one.
    std::function<std::optional<std::string>(std::string_view name)> value;
    /// The content of a file, or why it cannot be read.
    std::function<std::expected<std::string, std::string>(const std::string& path)> read_file;
    /// Keys that are fetched over HTTP, now and later, or why they cannot be: one line with the name of the config.
    std::function<std::expected<std::shared_ptr<KeySource>, std::string>(KeySetPlace place)> fetch_keys;
};

/// The error is one line for people: it names the config, and no secret.
[[nodiscard]] std::expected<LoginSettings, std::string> make_login_settings(const LoginConfigs& configs);

/// The order in which Kafka tells mechanisms: that of a java.util.HashSet.
[[nodiscard]] std::vector<std::string> in_told_order(std::vector<std::string> mechanisms);

}  // namespace partita::authentication
