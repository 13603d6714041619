#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/client/cluster.h"

/// Rules of who may do what, as a cluster's authorizer has them. Codes are those of the wire; brokers may know more of them than
/// are named here, and those are shown as UNKNOWN.
namespace partita::client {

enum class AclResource : std::int8_t {
    unknown = 0,
    any = 1,
    topic = 2,
    group = 3,
    cluster = 4,
    transactional_id = 5,
    delegation_token = 6,
    user = 7,
};
enum class AclPattern : std::int8_t { unknown = 0, any = 1, match = 2, literal = 3, prefixed = 4 };
enum class AclOperation : std::int8_t {
    unknown = 0,
    any = 1,
    all = 2,
    read = 3,
    write = 4,
    create = 5,
    remove = 6,
    alter = 7,
    describe = 8,
    cluster_action = 9,
    describe_configs = 10,
    alter_configs = 11,
    idempotent_write = 12,
    create_tokens = 13,
    describe_tokens = 14,
    two_phase_commit = 15,
};
enum class AclPermission : std::int8_t { unknown = 0, any = 1, deny = 2, allow = 3 };

/// Kafka's names: "TRANSACTIONAL_ID", "LITERAL", "DESCRIBE_CONFIGS", "ALLOW".
[[nodiscard]] std::string_view to_string(AclResource resource);
[[nodiscard]] std::string_view to_string(AclPattern pattern);
[[nodiscard]] std::string_view to_string(AclOperation operation);
[[nodiscard]] std::string_view to_string(AclPermission permission);
/// Every operation that has a name, but for unknown and any.
[[nodiscard]] std::span<const AclOperation> acl_operations();

/// What rules are for; of a filter, which of them are meant. Null: any name.
struct ResourcePattern {
    AclResource type = AclResource::any;
    std::optional<std::string> name;
    AclPattern pattern = AclPattern::any;

    friend auto operator<=>(const ResourcePattern&, const ResourcePattern&) = default;
};
struct AccessRule {
    std::string principal;
    std::string host;
    AclOperation operation{};
    AclPermission permission{};

    friend auto operator<=>(const AccessRule&, const AccessRule&) = default;
};
struct BoundRule {
    ResourcePattern pattern;
    AccessRule rule;

    friend auto operator<=>(const BoundRule&, const BoundRule&) = default;
};

/// As Kafka's tools write them: "ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL)" and
/// "(principal=User:a, host=*, operation=READ, permissionType=ALLOW)".
[[nodiscard]] std::string to_string(const ResourcePattern& pattern);
[[nodiscard]] std::string to_string(const AccessRule& rule);
[[nodiscard]] std::string to_string(const BoundRule& rule);

/// The rules for resources that the filter means.
[[nodiscard]] Result<std::set<BoundRule>> describe_acls(Cluster& cluster, const ResourcePattern& filter);
/// The failure is the first one of a rule; the others may be there.
[[nodiscard]] Result<void> create_acls(Cluster& cluster, const std::vector<BoundRule>& rules);
/// Deletes rules for resources that the filter means: those that are among `rules`, or all when there are none. The first
/// failure.
[[nodiscard]] Result<void> delete_acls(Cluster& cluster, const ResourcePattern& filter, const std::set<AccessRule>& rules);

}  // namespace partita::client
