#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "broker/authentication/login_failure.h"

/// SASL OAUTHBEARER (RFC 7628) as Kafka speaks it: the messages around a token.
namespace partita::authentication {

/// What a client says first.
struct BearerMessage {
    std::string authorization_id;
    std::string token;
};

[[nodiscard]] std::expected<BearerMessage, LoginFailure> parse_bearer_message(std::string_view message);

/// What a client answers when it was told why its token is not taken.
inline constexpr std::string_view kBearerErrorAcknowledged = "\x01";

/// The message of a client.
[[nodiscard]] std::string bearer_message(std::string_view token);

}  // namespace partita::authentication
