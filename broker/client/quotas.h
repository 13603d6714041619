#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/client/cluster.h"

/// Settings of clients, users and addresses: quotas and SCRAM credentials.
namespace partita::client {

/// The entity of a quota: pairs of a type as on the wire ("user", "client-id", "ip") and a name; a null name means the type's
/// default.
using QuotaEntity = std::vector<std::pair<std::string, std::optional<std::string>>>;

struct EntityQuotas {
    QuotaEntity entity;
    std::vector<std::pair<std::string, double>> values;
};

/// Selects entities of this type: by name, the default (an empty optional inside), or any (null outside).
struct QuotaMatch {
    std::string type;
    std::optional<std::optional<std::string>> name;
};

/// Whether an entity may have types that no match names.
enum class QuotaEntities { exact, with_others };

[[nodiscard]] Result<std::vector<EntityQuotas>> describe_quotas(Cluster& cluster, const std::vector<QuotaMatch>& matches,
                                                                QuotaEntities entities = QuotaEntities::exact);
/// Sets values; removes those that are null.
[[nodiscard]] Result<void> alter_quotas(Cluster& cluster, const QuotaEntity& entity,
                                        const std::vector<std::pair<std::string, std::optional<double>>>& values);

/// As on the wire.
enum class ScramMechanism : std::int8_t { sha_256 = 1, sha_512 = 2 };
/// Accepts "SCRAM-SHA-256". Null for an unknown name.
[[nodiscard]] std::optional<ScramMechanism> parse_scram_mechanism(std::string_view name);
[[nodiscard]] std::string_view to_string(ScramMechanism mechanism);

struct UserCredentials {
    std::string user;
    std::vector<std::pair<ScramMechanism, std::int32_t>> iterations;
    ErrorCode error = ErrorCode::none;
    std::string message;
};
/// Describes the credentials of these users, or of all if the list is empty.
[[nodiscard]] Result<std::vector<UserCredentials>> describe_credentials(Cluster& cluster, const std::vector<std::string>& users);

struct NewCredential {
    ScramMechanism mechanism{};
    std::int32_t iterations = 0;
    std::string password;
};
/// Salts the password here; the password never leaves the process.
[[nodiscard]] Result<void> alter_credentials(Cluster& cluster, const std::string& user, const std::vector<NewCredential>& set,
                                             const std::vector<ScramMechanism>& deleted);

}  // namespace partita::client
