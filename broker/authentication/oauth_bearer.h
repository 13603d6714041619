#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "broker/authentication/login_failure.h"

/// SASL OAUTHBEARER (RFC 7628) as in Kafka: the messages around a token.
namespace partita::authentication {

/// A client's first message.
struct BearerMessage {
    std::string authorization_id;
    std::string token;
};

[[nodiscard]] std::expected<BearerMessage, LoginFailure> parse_bearer_message(std::string_view message);

/// A client's answer to the refusal of its token.
inline constexpr std::string_view kBearerErrorAcknowledged = "\x01";

/// Formats a client's message.
[[nodiscard]] std::string bearer_message(std::string_view token);

}  // namespace partita::authentication
