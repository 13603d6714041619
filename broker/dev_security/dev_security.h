#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// A directory that makes a broker secure for development: an authority with certificates of the server and of each user, users
/// with random passwords, and settings for the broker and for clients of every kind. `partita dev-security DIR` makes it,
/// `partita --security DIR` starts a broker with it.
namespace partita::dev_security {

/// Who may everything.
inline constexpr std::string_view kAdministrator = "admin";
inline constexpr std::size_t kUsersMax = 100;
inline constexpr std::size_t kUserNameBytesMax = 64;
inline constexpr std::size_t kHostsMax = 100;
/// How long certificates are valid: those of the authority, and those that it signs (the most that Apple's clients believe).
inline constexpr std::int64_t kAuthorityDays = 3650;
inline constexpr std::int64_t kCertificateDays = 825;

struct Wishes {
    /// Where the files will be, as an absolute path: clients' settings name them by it.
    std::string directory;
    /// Users beside the administrator, who may nothing until ACLs say so.
    std::vector<std::string> users{"app"};
    /// Names by which clients reach the broker beside localhost: host names, or addresses as numbers.
    std::vector<std::string> hosts;
    std::uint16_t port = 9092;
    /// A second listener on the next port, where a client's certificate says who it is.
    bool has_mutual_tls = false;
};

struct MadeFile {
    /// Within the directory.
    std::string name;
    std::string content;
};

/// Everything that belongs into the directory, with fresh keys and passwords. The error says what of the wishes cannot be: a user
/// whose name makes no file name, a host that is none, too many of either.
[[nodiscard]] std::expected<std::vector<MadeFile>, std::string> make_files(const Wishes& wishes, std::int64_t now_s);

/// Writes the files, which only their owner can read: directory 0700, files 0600. The directory is made where it is missing, and
/// one that others can read is refused. Files that are there already are replaced only with `may_replace`; otherwise nothing is
/// written. Each file appears whole. The error is one line that says what to do.
[[nodiscard]] std::expected<void, std::string> write_files(const std::string& directory, const std::vector<MadeFile>& files,
                                                           bool may_replace);

/// The broker's settings out of a directory that was made so: what its file broker.properties says (`properties`, parsed), with
/// the files that it names looked for in `directory`, to which they may have been moved since. With a port, listeners are on
/// that one and the next; 0 takes free ones. The error names what is missing.
using Settings = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] std::expected<Settings, std::string> broker_settings(const std::string& directory, Settings properties,
                                                                   std::string_view port);

/// The file in the directory that holds them.
inline constexpr std::string_view kBrokerFile = "broker.properties";

/// What people are told when the files are there: what each is for, and lines to try.
[[nodiscard]] std::string told(const Wishes& wishes);

}  // namespace partita::dev_security
