#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// A directory that secures a broker for development: an authority with certificates of the server and of each user, users with
/// random passwords, and settings for the broker and for clients of every kind. `partita dev-security DIR` creates it, `partita
/// --security DIR` starts a broker with it.
namespace partita::dev_security {

/// The user with all permissions.
inline constexpr std::string_view kAdministrator = "admin";
inline constexpr std::size_t kUsersMax = 100;
inline constexpr std::size_t kUserNameBytesMax = 64;
inline constexpr std::size_t kHostsMax = 100;
/// Validity of certificates: of the authority, and of those that it signs (the longest that Apple's clients accept).
inline constexpr std::int64_t kAuthorityDays = 3650;
inline constexpr std::int64_t kCertificateDays = 825;

struct Wishes {
    /// The directory of the files as an absolute path, which clients' settings contain.
    std::string directory;
    /// Users besides the administrator, without permissions until ACLs grant some.
    std::vector<std::string> users{"app"};
    /// Names under which clients reach the broker besides localhost: host names, or addresses as numbers.
    std::vector<std::string> hosts;
    std::uint16_t port = 9092;
    /// A second listener on the next port, where a client's certificate identifies the client.
    bool has_mutual_tls = false;
};

struct MadeFile {
    /// Relative to the directory.
    std::string name;
    std::string content;
};

/// Creates the content of the directory, with fresh keys and passwords. The error names the invalid wish: a user name unfit for a
/// file name, an invalid host, too many of either.
[[nodiscard]] std::expected<std::vector<MadeFile>, std::string> make_files(const Wishes& wishes, std::int64_t now_s);

/// Writes the files, readable only for their owner: directory 0700, files 0600. Creates a missing directory; refuses one that
/// others can read. Replaces existing files only with `may_replace`; otherwise it writes nothing. Each file appears whole. The
/// error is one line of advice.
[[nodiscard]] std::expected<void, std::string> write_files(const std::string& directory, const std::vector<MadeFile>& files,
                                                           bool may_replace);

/// The broker's settings from such a directory: its file broker.properties (`properties`, parsed), with its files looked up in
/// `directory`, because they may have been moved. With a port, the listeners use that one and the next; 0 takes free ones. The
/// error names the missing part.
using Settings = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] std::expected<Settings, std::string> broker_settings(const std::string& directory, Settings properties,
                                                                   std::string_view port);

/// The file in the directory with these settings.
inline constexpr std::string_view kBrokerFile = "broker.properties";

/// The message after the creation: the purpose of each file, and commands to try.
[[nodiscard]] std::string told(const Wishes& wishes);

}  // namespace partita::dev_security
