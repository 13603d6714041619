#pragma once

#include <cstddef>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "broker/access/session.h"
#include "broker/authentication/login_failure.h"

/// Connection strings of a managed event service. Clients log in with them by PLAIN:
/// `Endpoint=sb://HOST/;SharedAccessKeyName=NAME;SharedAccessKey=KEY[;EntityPath=TOPIC]`.
namespace partita::authentication {

/// The user name which announces that the password is a connection string.
inline constexpr std::string_view kConnectionStringUser = "$ConnectionString";
/// Longer texts are invalid.
inline constexpr std::size_t kConnectionStringBytesMax = 4096;
/// Limit for the host, the name of a key, the key, and the topic.
inline constexpr std::size_t kConnectionStringPartBytesMax = 256;
/// Limit for keys in the settings.
inline constexpr std::size_t kAccessKeysMax = 64;

struct ConnectionString {
    std::string host;
    std::string key_name;
    std::string key;
    /// The only topic that the string is valid for.
    std::optional<std::string> topic;
};

/// Parses a connection string: parts in any order, each once, without surrounding text; one ';' may follow the last.
/// `UseDevelopmentEmulator=true` is accepted and has no effect. The error says what is wrong and contains no part of the text.
[[nodiscard]] std::expected<ConnectionString, std::string> parse_connection_string(std::string_view text);

struct AccessKey {
    std::string key;
    access::KeyRights rights = {};

    friend bool operator==(const AccessKey&, const AccessKey&) = default;
};
/// Keys by name.
using AccessKeys = std::map<std::string, AccessKey, std::less<>>;

/// Parses `NAME[:RIGHTS]=KEY[,NAME[:RIGHTS]=KEY...]`; at least one. RIGHTS are `send`, `listen` and `manage`, joined by `+`. A
/// key without rights has all of them; `manage` includes `send` and `listen`. White space around a pair is ignored. The error may
/// contain a name but no key.
[[nodiscard]] std::expected<AccessKeys, std::string> parse_access_keys(std::string_view text);

/// The proven holder of a connection string, and its grant.
struct KeyHolder {
    std::string key_name;
    access::KeyGrant grant;
};

/// Checks a password of `kConnectionStringUser`. The client only learns that it is wrong; the log has the reason.
[[nodiscard]] std::expected<KeyHolder, LoginFailure> check_connection_string(const AccessKeys& keys, std::string_view password);

}  // namespace partita::authentication
