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

/// Who a token says that its bearer is. Times are of the wall clock.
struct BearerIdentity {
    std::string principal;
    TimestampMs expires{};
};

/// Why a token is not taken. The client is told `status`, and `scope` when it lacks one.
struct [[nodiscard]] TokenRefusal {
    std::string status = "invalid_token";
    std::optional<std::string> scope;
    /// For the log.
    std::string reason;
    /// The connection ends, and the client is told nothing: what Kafka's server code does not expect.
    bool is_silent = false;

    /// What a server says: {"status":"invalid_token"}.
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

/// Whoever can write can make such a token. As Kafka's handler: the algorithm is `none`, the base64 is not the one for URLs.
[[nodiscard]] TokenVerdict check_unsecured_token(const UnsecuredTokens& rules, std::string_view token, TimestampMs now);

/// What Kafka's BrokerJwtValidator (jose4j) asks of a signed token.
struct SignedTokens {
    KeySet keys;
    /// When the keys change: then `keys` has none. Null otherwise.
    std::shared_ptr<KeySource> source = nullptr;
    /// Null: anybody's.
    std::optional<std::string> issuer;
    /// A token for an audience is taken only when one of these is among it.
    std::vector<std::string> audience;
    std::string scope_claim = "scope";
    std::string subject_claim = "sub";
    std::int32_t clock_skew_seconds = 30;
};

[[nodiscard]] TokenVerdict check_signed_token(const SignedTokens& rules, std::string_view token, TimestampMs now);

}  // namespace partita::authentication
