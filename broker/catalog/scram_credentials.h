#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/catalog/catalog.h"
#include "broker/catalog/commands.h"

/// SCRAM credentials of users (KIP-554). The catalog stores them for the listeners; descriptions show only mechanism and
/// iterations.
namespace partita::catalog {

enum class ScramMechanism : std::int8_t { unknown = 0, sha_256 = 1, sha_512 = 2 };

inline constexpr std::int32_t kScramMinIterations = 4096;
inline constexpr std::int32_t kScramMaxIterations = 16384;

/// A server's record of a password (RFC 5802), the bytes in base64. Never the salted password itself.
struct ScramCredential {
    std::string salt;
    std::string stored_key;
    std::string server_key;
    std::int32_t iterations = 0;
};

/// "SCRAM-SHA-256", the name under which the catalog keeps a credential; empty for an unknown mechanism.
[[nodiscard]] std::string_view scram_mechanism_name(ScramMechanism mechanism);
/// The stored text, in the form in which Kafka kept credentials in ZooKeeper.
[[nodiscard]] std::string scram_credential_text(const ScramCredential& credential);

struct ScramUpsertion {
    std::string_view user;
    std::int8_t mechanism = 0;
    std::int32_t iterations = 0;
    /// Unset if the client's bytes are not a valid credential; that user is then refused.
    std::optional<ScramCredential> credential;
};

struct ScramDeletion {
    std::string_view user;
    std::int8_t mechanism = 0;
};

struct AlteredScramUser {
    std::string user;
    CatalogError error;
};

/// One result per user. A user can be altered once per request.
struct AlterScramCredentialsResult {
    std::vector<AlteredScramUser> users;
};

struct AlterScramCredentials {
    using Result = AlterScramCredentialsResult;
    std::vector<ScramDeletion> deletions;
    std::vector<ScramUpsertion> upsertions;
};

struct DescribedScramUser {
    std::string user;
    CatalogError error;
    /// Ascending by mechanism.
    std::map<ScramMechanism, std::int32_t> iterations;
};

/// Without users, describes all that have credentials. Ascending by name.
[[nodiscard]] std::vector<DescribedScramUser> describe_scram_credentials(const CatalogSnapshot& catalog,
                                                                         std::span<const std::string_view> users);

}  // namespace partita::catalog
