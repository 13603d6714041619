#include "broker/client/acls.h"

#include <algorithm>
#include <array>

#include "protocol/messages/29_describe_acls.h"
#include "protocol/messages/30_create_acls.h"
#include "protocol/messages/31_delete_acls.h"

namespace partita::client {
namespace {

constexpr std::array<std::string_view, 8> kResources{"UNKNOWN",          "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID",
                                                     "DELEGATION_TOKEN", "USER"};
constexpr std::array<std::string_view, 5> kPatterns{"UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED"};
constexpr std::array<std::string_view, 16> kOperations{"UNKNOWN",
                                                       "ANY",
                                                       "ALL",
                                                       "READ",
                                                       "WRITE",
                                                       "CREATE",
                                                       "DELETE",
                                                       "ALTER",
                                                       "DESCRIBE",
                                                       "CLUSTER_ACTION",
                                                       "DESCRIBE_CONFIGS",
                                                       "ALTER_CONFIGS",
                                                       "IDEMPOTENT_WRITE",
                                                       "CREATE_TOKENS",
                                                       "DESCRIBE_TOKENS",
                                                       "TWO_PHASE_COMMIT"};
constexpr std::array<std::string_view, 4> kPermissions{"UNKNOWN", "ANY", "DENY", "ALLOW"};
constexpr std::array<AclOperation, 14> kNamedOperations{AclOperation::all,
                                                        AclOperation::read,
                                                        AclOperation::write,
                                                        AclOperation::create,
                                                        AclOperation::remove,
                                                        AclOperation::alter,
                                                        AclOperation::describe,
                                                        AclOperation::cluster_action,
                                                        AclOperation::describe_configs,
                                                        AclOperation::alter_configs,
                                                        AclOperation::idempotent_write,
                                                        AclOperation::create_tokens,
                                                        AclOperation::describe_tokens,
                                                        AclOperation::two_phase_commit};

template <class Code, std::size_t count>
std::string_view name_in(const std::array<std::string_view, count>& names, Code code) {
    const auto at = static_cast<std::size_t>(code);
    return at < count ? names[at] : names[0];
}

template <class Code>
std::int8_t on_wire(Code code) {
    return static_cast<std::int8_t>(code);
}

std::optional<std::string_view> view_of(const std::optional<std::string>& text) {
    return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

}  // namespace

std::string_view to_string(AclResource resource) { return name_in(kResources, resource); }
std::string_view to_string(AclPattern pattern) { return name_in(kPatterns, pattern); }
std::string_view to_string(AclOperation operation) { return name_in(kOperations, operation); }
std::string_view to_string(AclPermission permission) { return name_in(kPermissions, permission); }
std::span<const AclOperation> acl_operations() { return kNamedOperations; }

std::string to_string(const ResourcePattern& pattern) {
    return "ResourcePattern(resourceType=" + std::string(to_string(pattern.type)) + ", name=" + pattern.name.value_or("<any>") +
           ", patternType=" + std::string(to_string(pattern.pattern)) + ")";
}
std::string to_string(const AccessRule& rule) {
    return "(principal=" + rule.principal + ", host=" + rule.host + ", operation=" + std::string(to_string(rule.operation)) +
           ", permissionType=" + std::string(to_string(rule.permission)) + ")";
}
std::string to_string(const BoundRule& rule) {
    return "(pattern=" + to_string(rule.pattern) + ", entry=" + to_string(rule.rule) + ")";
}

Result<std::set<BoundRule>> describe_acls(Cluster& cluster, const ResourcePattern& filter) {
    const DescribeAclsRequest request{.resource_type_filter = on_wire(filter.type),
                                      .resource_name_filter = view_of(filter.name),
                                      .pattern_type_filter = on_wire(filter.pattern),
                                      .principal_filter = std::nullopt,
                                      .host_filter = std::nullopt,
                                      .operation = on_wire(AclOperation::any),
                                      .permission_type = on_wire(AclPermission::any)};
    auto reply = cluster.ask<DescribeAclsResponse>(Route::any(), {.name = "describeAcls"}, request);
    if (!reply) {
        return std::unexpected(std::move(reply.error()));
    }
    if ((*reply)->error_code != ErrorCode::none) {
        return std::unexpected(refusal((*reply)->error_code, (*reply)->error_message.value_or("")));
    }
    std::set<BoundRule> rules;
    for (const auto& resource : (*reply)->resources) {
        const ResourcePattern pattern{static_cast<AclResource>(resource.resource_type), std::string(resource.resource_name),
                                      static_cast<AclPattern>(resource.pattern_type)};
        for (const auto& acl : resource.acls) {
            rules.insert({pattern,
                          {std::string(acl.principal), std::string(acl.host), static_cast<AclOperation>(acl.operation),
                           static_cast<AclPermission>(acl.permission_type)}});
        }
    }
    return rules;
}

Result<void> create_acls(Cluster& cluster, const std::vector<BoundRule>& rules) {
    std::vector<CreateAclsRequest::AclCreation> creations;
    for (const BoundRule& bound : rules) {
        creations.push_back({.resource_type = on_wire(bound.pattern.type),
                             .resource_name = *bound.pattern.name,
                             .resource_pattern_type = on_wire(bound.pattern.pattern),
                             .principal = bound.rule.principal,
                             .host = bound.rule.host,
                             .operation = on_wire(bound.rule.operation),
                             .permission_type = on_wire(bound.rule.permission)});
    }
    auto reply =
        cluster.ask<CreateAclsResponse>(Route::controller(), {.name = "createAcls"}, CreateAclsRequest{.creations = creations});
    if (!reply) {
        return std::unexpected(std::move(reply.error()));
    }
    for (const auto& result : (*reply)->results) {
        if (result.error_code != ErrorCode::none) {
            return std::unexpected(refusal(result.error_code, result.error_message.value_or("")));
        }
    }
    return {};
}

Result<void> delete_acls(Cluster& cluster, const ResourcePattern& filter, const std::set<AccessRule>& rules) {
    const DeleteAclsRequest::DeleteAclsFilter all{.resource_type_filter = on_wire(filter.type),
                                                  .resource_name_filter = view_of(filter.name),
                                                  .pattern_type_filter = on_wire(filter.pattern),
                                                  .principal_filter = std::nullopt,
                                                  .host_filter = std::nullopt,
                                                  .operation = on_wire(AclOperation::any),
                                                  .permission_type = on_wire(AclPermission::any)};
    std::vector<DeleteAclsRequest::DeleteAclsFilter> filters;
    if (rules.empty()) {
        filters.push_back(all);
    }
    for (const AccessRule& rule : rules) {
        auto& one = filters.emplace_back(all);
        one.principal_filter = rule.principal;
        one.host_filter = rule.host;
        one.operation = on_wire(rule.operation);
        one.permission_type = on_wire(rule.permission);
    }
    auto reply =
        cluster.ask<DeleteAclsResponse>(Route::controller(), {.name = "deleteAcls"}, DeleteAclsRequest{.filters = filters});
    if (!reply) {
        return std::unexpected(std::move(reply.error()));
    }
    for (const auto& result : (*reply)->filter_results) {
        if (result.error_code != ErrorCode::none) {
            return std::unexpected(refusal(result.error_code, result.error_message.value_or("")));
        }
        for (const auto& matching : result.matching_acls) {
            if (matching.error_code != ErrorCode::none) {
                return std::unexpected(refusal(matching.error_code, matching.error_message.value_or("")));
            }
        }
    }
    return {};
}

}  // namespace partita::client
