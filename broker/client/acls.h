#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "broker/access/acl.h"
#include "broker/client/cluster.h"

/// ACL rules, as a cluster's authorizer holds them. A broker may know more codes than this file names; to_string shows those as
/// UNKNOWN.
namespace partita::client {

/// A code of a rule as on the wire: one that the broker's own rules have (room `access`), or one that only filters or newer
/// brokers use.
template <class Known>
struct AclCode {
    static constexpr std::int8_t kUnknown = 0;

    constexpr AclCode() = default;
    // Implicit: callers usually pass a known code.
    constexpr AclCode(Known known) : value(static_cast<std::int8_t>(known)) {}  // NOLINT(google-explicit-constructor)
    constexpr explicit AclCode(std::int8_t code) : value(code) {}

    std::int8_t value = access::kAnyCode;

    friend constexpr auto operator<=>(const AclCode&, const AclCode&) = default;
};
using AclResource = AclCode<access::ResourceType>;
using AclPattern = AclCode<access::PatternType>;
using AclOperation = AclCode<access::Operation>;
using AclEffect = AclCode<access::AclEffect>;
/// For filters only: matches all patterns that hold for a resource of the name.
inline constexpr AclPattern kMatchingPatterns{access::kMatchCode};

/// Kafka's names: "TRANSACTIONAL_ID", "LITERAL", "DESCRIBE_CONFIGS", "ALLOW"; "ANY", "MATCH" and "UNKNOWN" for the others.
[[nodiscard]] std::string_view to_string(AclResource resource);
[[nodiscard]] std::string_view to_string(AclPattern pattern);
[[nodiscard]] std::string_view to_string(AclOperation operation);
[[nodiscard]] std::string_view to_string(AclEffect effect);

/// The resources that a rule protects, or that a filter matches. A null name matches any name.
struct ResourcePattern {
    AclResource type;
    std::optional<std::string> name;
    AclPattern pattern;

    friend auto operator<=>(const ResourcePattern&, const ResourcePattern&) = default;
};
struct AccessRule {
    std::string principal;
    std::string host;
    AclOperation operation;
    AclEffect effect;

    friend auto operator<=>(const AccessRule&, const AccessRule&) = default;
};
struct BoundRule {
    ResourcePattern pattern;
    AccessRule rule;

    friend auto operator<=>(const BoundRule&, const BoundRule&) = default;
};

/// The texts of Kafka's tools: "ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL)" and "(principal=User:a, host=*,
/// operation=READ, permissionType=ALLOW)".
[[nodiscard]] std::string to_string(const ResourcePattern& pattern);
[[nodiscard]] std::string to_string(const AccessRule& rule);
[[nodiscard]] std::string to_string(const BoundRule& rule);

/// Reads the rules for resources that the filter matches.
[[nodiscard]] Result<std::set<BoundRule>> describe_acls(Cluster& cluster, const ResourcePattern& filter);
/// Creates rules. The failure is that of the first rule that the broker refused; the broker may have created the others.
[[nodiscard]] Result<void> create_acls(Cluster& cluster, const std::vector<BoundRule>& rules);
/// Deletes rules for resources that the filter matches: those among `rules`, or all of them if `rules` is empty. The failure is
/// the first one.
[[nodiscard]] Result<void> delete_acls(Cluster& cluster, const ResourcePattern& filter, const std::set<AccessRule>& rules);

}  // namespace partita::client
