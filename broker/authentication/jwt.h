#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/authentication/jwks.h"
#include "broker/authentication/key_source.h"
#include "protocol/types.h"

/// JSON web tokens (RFC 7519) in their compact form: without a signature for development, and with one.
namespace partita::authentication {

/// The identity that a token states for its bearer. Times are of the wall clock.
struct BearerIdentity {
    std::string principal;
    TimestampMs expires{};
};

/// Why a token was refused. The client receives `status`, and `scope` if the token lacks one.
struct [[nodiscard]] TokenRefusal {
    std::string status = "invalid_token";
    std::optional<std::string> scope;
    /// For the log.
    std::string reason;
    /// The connection ends without an answer: a case that Kafka's server code does not expect.
    bool is_silent = false;

    /// The text for the client: {"status":"invalid_token"}.
    [[nodiscard]] std::string json() const;
};

using TokenVerdict = std::expected<BearerIdentity, TokenRefusal>;

/// Options of OAuthBearerLoginModule for tokens without a signature, with the defaults of Kafka's
/// OAuthBearerUnsecuredValidatorCallbackHandler.
struct UnsecuredTokens {
    std::string principal_claim = "sub";
    std::string scope_claim = "scope";
    std::vector<std::string> required_scope;
    std::int32_t clock_skew_ms = 0;
};

/// Checks a token that anyone can write. Like Kafka's handler, it demands the algorithm `none` and standard base64, not
/// base64url.
[[nodiscard]] TokenVerdict check_unsecured_token(const UnsecuredTokens& rules, std::string_view token, TimestampMs now);

/// The checks of Kafka's BrokerJwtValidator (jose4j) for a signed token.
struct SignedTokens {
    KeySet keys;
    /// For keys that change; then `keys` is empty. Null otherwise.
    std::shared_ptr<KeySource> source = nullptr;
    /// Null: any issuer.
    std::optional<std::string> issuer;
    /// A token with an audience must contain one of these.
    std::vector<std::string> audience;
    std::string scope_claim = "scope";
    std::string subject_claim = "sub";
    std::int32_t clock_skew_seconds = 30;
};

[[nodiscard]] TokenVerdict check_signed_token(const SignedTokens& rules, std::string_view token, TimestampMs now);

}  // namespace partita::authentication
