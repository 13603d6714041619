#pragma once

#include <cstddef>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "broker/access/session.h"
#include "broker/authentication/login_failure.h"

/// Connection strings as a managed event service gives them out, with which clients log in by PLAIN:
/// `Endpoint=sb://HOST/;SharedAccessKeyName=NAME;SharedAccessKey=KEY[;EntityPath=TOPIC]`.
namespace partita::authentication {

/// The name with which a client says that its password is a connection string.
inline constexpr std::string_view kConnectionStringUser = "$ConnectionString";
/// A longer text is none.
inline constexpr std::size_t kConnectionStringBytesMax = 4096;
/// The longest host, name of a key, key, or topic.
inline constexpr std::size_t kConnectionStringPartBytesMax = 256;
/// As many keys as settings may have.
inline constexpr std::size_t kAccessKeysMax = 64;

struct ConnectionString {
    std::string host;
    std::string key_name;
    std::string key;
    /// The only topic that it is for.
    std::optional<std::string> topic;
};

/// Parts in any order, each once, with nothing around them; one ';' may follow the last. `UseDevelopmentEmulator=true` is taken,
/// and means nothing. The error says what is wrong and holds nothing of the text.
[[nodiscard]] std::expected<ConnectionString, std::string> parse_connection_string(std::string_view text);

struct AccessKey {
    std::string key;
    access::KeyRights rights = {};

    friend bool operator==(const AccessKey&, const AccessKey&) = default;
};
/// Keys by name.
using AccessKeys = std::map<std::string, AccessKey, std::less<>>;

/// `NAME[:RIGHTS]=KEY[,NAME[:RIGHTS]=KEY...]`; at least one. RIGHTS are `send`, `listen` and `manage`, with `+` between them;
/// without any a key has all, and whoever manages may send and listen, too. White space around a pair is none of it. The error
/// may hold a name and holds no key.
[[nodiscard]] std::expected<AccessKeys, std::string> parse_access_keys(std::string_view text);

/// Whose name a connection string has proven, and for what.
struct KeyHolder {
    std::string key_name;
    access::KeyGrant grant;
};

/// Checks a password of `kConnectionStringUser`. The client hears no more than that it is wrong; the log hears why.
[[nodiscard]] std::expected<KeyHolder, LoginFailure> check_connection_string(const AccessKeys& keys, std::string_view password);

}  // namespace partita::authentication
