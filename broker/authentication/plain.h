#pragma once

#include <expected>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "broker/authentication/login_failure.h"

/// SASL PLAIN (RFC 4616) as Kafka serves it.
namespace partita::authentication {

/// Passwords by name.
using PlainUsers = std::map<std::string, std::string, std::less<>>;

/// The name of the user whom the token ([authzid] NUL name NUL password) proves.
[[nodiscard]] std::expected<std::string, LoginFailure> check_plain(const PlainUsers& users, std::string_view token);

/// The token with which a client logs in.
[[nodiscard]] std::string plain_token(std::string_view user, std::string_view password);

}  // namespace partita::authentication
