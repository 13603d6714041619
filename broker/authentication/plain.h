#pragma once

#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "broker/authentication/connection_string.h"
#include "broker/authentication/login_failure.h"

/// SASL PLAIN (RFC 4616) as in Kafka.
namespace partita::authentication {

/// Passwords by name.
using PlainUsers = std::map<std::string, std::string, std::less<>>;

/// The identity that a token proves.
struct PlainIdentity {
    std::string user;
    /// Only for the holder of a connection string.
    std::optional<access::KeyGrant> grant;
};

/// Checks the token ([authzid] NUL name NUL password). With `keys` the password of `$ConnectionString` is a connection string;
/// with null that is an ordinary user.
[[nodiscard]] std::expected<PlainIdentity, LoginFailure> check_plain(const PlainUsers& users, const AccessKeys* keys,
                                                                     std::string_view token);

/// Formats a client's token.
[[nodiscard]] std::string plain_token(std::string_view user, std::string_view password);

}  // namespace partita::authentication
