#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/client/cluster.h"

/// What is set for clients, users and addresses: quotas and SCRAM credentials.
namespace partita::client {

/// Whom a quota is for: the type as on the wire ("user", "client-id", "ip") and the name, null for the default of the type.
using QuotaEntity = std::vector<std::pair<std::string, std::optional<std::string>>>;

struct EntityQuotas {
    QuotaEntity entity;
    std::vector<std::pair<std::string, double>> values;
};

/// Which entities: of these types, each with a name, the default (an empty optional inside), or any (null outside).
struct QuotaMatch {
    std::string type;
    std::optional<std::optional<std::string>> name;
};

/// Whether an entity may have types that no match names.
enum class QuotaEntities { exact, with_others };

[[nodiscard]] Result<std::vector<EntityQuotas>> describe_quotas(Cluster& cluster, const std::vector<QuotaMatch>& matches,
                                                                QuotaEntities entities = QuotaEntities::exact);
/// Sets values, and takes those away that are null.
[[nodiscard]] Result<void> alter_quotas(Cluster& cluster, const QuotaEntity& entity,
                                        const std::vector<std::pair<std::string, std::optional<double>>>& values);

/// As on the wire.
enum class ScramMechanism : std::int8_t { sha_256 = 1, sha_512 = 2 };
/// Null when it is none. "SCRAM-SHA-256".
[[nodiscard]] std::optional<ScramMechanism> parse_scram_mechanism(std::string_view name);
[[nodiscard]] std::string_view to_string(ScramMechanism mechanism);

struct UserCredentials {
    std::string user;
    std::vector<std::pair<ScramMechanism, std::int32_t>> iterations;
    ErrorCode error = ErrorCode::none;
    std::string message;
};
/// Of these users, or of all when the list is empty.
[[nodiscard]] Result<std::vector<UserCredentials>> describe_credentials(Cluster& cluster, const std::vector<std::string>& users);

struct NewCredential {
    ScramMechanism mechanism{};
    std::int32_t iterations = 0;
    std::string password;
};
/// The password is salted here and does not leave the process.
[[nodiscard]] Result<void> alter_credentials(Cluster& cluster, const std::string& user, const std::vector<NewCredential>& set,
                                             const std::vector<ScramMechanism>& deleted);

}  // namespace partita::client
