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

/// Client quotas (KIP-546), which kafka-configs sets for users, client ids and addresses. This file stores and describes them;
/// client_rates.h and mutation_quotas.h count the clients' use.
namespace partita::catalog {

/// The entity that a quota is for: types ("user", "client-id", "ip") to names. A type without a name means its default.
using QuotaEntity = std::map<std::string, std::optional<std::string>, std::less<>>;
/// Quotas by key, ascending, as the catalog stores them for an entity.
using QuotaValues = std::map<std::string, double, std::less<>>;

struct QuotaOperation {
    std::string_view key;
    /// Null removes the quota.
    std::optional<double> value;
};

struct QuotaAlteration {
    /// The entity as the request names it: if it names a type twice the last name counts, as in Kafka.
    QuotaEntity entity;
    std::vector<QuotaOperation> operations;
};

struct AlteredQuotas {
    QuotaEntity entity;
    CatalogError error;
};

/// One result per entity, in the order of the request. If an entity comes twice, its first alteration takes effect, and the
/// result is a refusal.
struct AlterClientQuotasResult {
    std::vector<AlteredQuotas> entities;
};

struct AlterClientQuotas {
    using Result = AlterClientQuotasResult;
    std::vector<QuotaAlteration> alterations;
    bool validate_only = false;
};

struct QuotaFilterComponent {
    std::string_view entity_type;
    /// 0 this name, 1 the default of the type, 2 any name or default.
    std::int8_t match_type = 0;
    std::optional<std::string_view> match;
};

struct DescribedQuotas {
    QuotaEntity entity;
    QuotaValues values;
};

/// The entities that have all types of the filter, each matching; with `strict` only those without any other type.
[[nodiscard]] std::expected<std::vector<DescribedQuotas>, CatalogError> describe_client_quotas(
    const CatalogSnapshot& catalog, std::span<const QuotaFilterComponent> filter, bool strict);

/// True if the catalog can hold quotas under this name. Checks names that any version stored.
[[nodiscard]] bool is_quota_entity(std::string_view name);

/// The quota of exactly this entity; null if it has none.
[[nodiscard]] std::optional<double> client_quota(const CatalogSnapshot& catalog, const QuotaEntity& entity, std::string_view key);

/// The quota that applies to a client.
struct QuotaInForce {
    /// The amount that may be used per second; above 0.
    double rate = 0;
    /// Clients with the same bucket count together: all clients of a user, all of a client id, or one client id of a user.
    std::string bucket;

    friend bool operator==(const QuotaInForce&, const QuotaInForce&) = default;
};

/// The most specific quota for a client, in Kafka's order: user and client id; user and any client id; user; then the same three
/// for any user; then the client id; any client id. Null if no quota limits the client.
[[nodiscard]] std::optional<QuotaInForce> quota_of_client(const CatalogSnapshot& catalog, std::string_view user,
                                                          std::string_view client_id, std::string_view key);

/// The quota of an address in numeric form, else the one for any address, which applies to each address separately.
[[nodiscard]] std::optional<QuotaInForce> quota_of_address(const CatalogSnapshot& catalog, std::string_view address,
                                                           std::string_view key);

}  // namespace partita::catalog
