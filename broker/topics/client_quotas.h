#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/topics/catalog.h"
#include "broker/topics/catalog_commands.h"

/// Client quotas (KIP-546): what kafka-configs sets for users, client ids and addresses. They are stored and described
/// here; client_rates.h and mutation_quotas.h count what clients use.
namespace partita::topics {

/// Whom a quota is for: type ("user", "client-id", "ip") to name; no name is the default of the type.
using QuotaEntity = std::map<std::string, std::optional<std::string>, std::less<>>;
/// Ascending by key. What the catalog stores for an entity.
using QuotaValues = std::map<std::string, double, std::less<>>;

struct QuotaOperation {
    std::string_view key;
    /// No value removes the quota.
    std::optional<double> value;
};

struct QuotaAlteration {
    /// As it came: a type that is named twice counts with its last name, as in Kafka.
    QuotaEntity entity;
    std::vector<QuotaOperation> operations;
};

struct AlterClientQuotasCommand {
    std::vector<QuotaAlteration> alterations;
    bool validate_only = false;
};

struct AlteredQuotas {
    QuotaEntity entity;
    CatalogError error;
};

/// One result per entity, in the order of the request. An entity that comes twice keeps what its first alteration did
/// and is answered with a refusal.
struct AlterClientQuotasReply {
    std::vector<AlteredQuotas> entities;
};

[[nodiscard]] Decision<AlterClientQuotasReply> alter_client_quotas(const CatalogPointer& catalog,
                                                                   const AlterClientQuotasCommand& command);

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

/// The entities that have all types of the filter, matching; with `strict` only those that have no other type.
[[nodiscard]] std::expected<std::vector<DescribedQuotas>, CatalogError> describe_client_quotas(
    const CatalogSnapshot& catalog, std::span<const QuotaFilterComponent> filter, bool strict);

/// Whether the catalog can hold quotas under this name: for what was stored, by whomever.
[[nodiscard]] bool is_quota_entity(std::string_view name);

/// A quota of exactly this entity, if it has one.
[[nodiscard]] std::optional<double> client_quota(const CatalogSnapshot& catalog, const QuotaEntity& entity,
                                                 std::string_view key);

/// The quota that holds for a client.
struct QuotaInForce {
    /// What may be used per second; above 0.
    double rate = 0;
    /// Whose use is counted together: all clients of a user, all of a client id, or one client id of a user.
    std::string bucket;

    friend bool operator==(const QuotaInForce&, const QuotaInForce&) = default;
};

/// The most specific quota, in Kafka's order: user and client id, user and any client id, user; then the same for any
/// user; then the client id, and any client id. None when nobody limits this client.
[[nodiscard]] std::optional<QuotaInForce> quota_of_client(const CatalogSnapshot& catalog, std::string_view user,
                                                          std::string_view client_id, std::string_view key);

/// The quota of an address in its numeric form, or that of any address, which holds for each by itself.
[[nodiscard]] std::optional<QuotaInForce> quota_of_address(const CatalogSnapshot& catalog, std::string_view address,
                                                           std::string_view key);

}  // namespace partita::topics
