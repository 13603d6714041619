#include "broker/client/acls.h"

#include "protocol/messages/29_describe_acls.h"
#include "protocol/messages/30_create_acls.h"
#include "protocol/messages/31_delete_acls.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

template <class Known>
std::string_view name_in(AclCode<Known> code, bool (*is_known)(std::int8_t)) {
    if (code.value == access::kAnyCode) {
        return "ANY";
    }
    return is_known(code.value) ? access::name_of(static_cast<Known>(code.value)) : "UNKNOWN";
}

std::optional<std::string_view> view_of(const std::optional<std::string>& text) {
    return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

}  // namespace

std::string_view to_string(AclResource resource) { return name_in(resource, access::is_resource_code); }
std::string_view to_string(AclPattern pattern) {
    return pattern == kMatchingPatterns ? "MATCH" : name_in(pattern, access::is_pattern_code);
}
std::string_view to_string(AclOperation operation) { return name_in(operation, access::is_operation_code); }
std::string_view to_string(AclEffect effect) { return name_in(effect, access::is_effect_code); }

std::string to_string(const ResourcePattern& pattern) {
    return "ResourcePattern(resourceType=" + std::string(to_string(pattern.type)) + ", name=" + pattern.name.value_or("<any>") +
           ", patternType=" + std::string(to_string(pattern.pattern)) + ")";
}
std::string to_string(const AccessRule& rule) {
    return "(principal=" + rule.principal + ", host=" + rule.host + ", operation=" + std::string(to_string(rule.operation)) +
           ", permissionType=" + std::string(to_string(rule.effect)) + ")";
}
std::string to_string(const BoundRule& rule) {
    return "(pattern=" + to_string(rule.pattern) + ", entry=" + to_string(rule.rule) + ")";
}

Result<std::set<BoundRule>> describe_acls(Cluster& cluster, const ResourcePattern& filter) {
    const DescribeAclsRequest request{.resource_type_filter = filter.type.value,
                                      .resource_name_filter = view_of(filter.name),
                                      .pattern_type_filter = filter.pattern.value,
                                      .principal_filter = std::nullopt,
                                      .host_filter = std::nullopt,
                                      .operation = access::kAnyCode,
                                      .permission_type = access::kAnyCode};
    PARTITA_TRY_ASSIGN(auto reply, cluster.ask<DescribeAclsResponse>(Route::any(), {.name = "describeAcls"}, request));
    if (reply->error_code != ErrorCode::none) {
        return std::unexpected(refusal(reply->error_code, reply->error_message.value_or("")));
    }
    std::set<BoundRule> rules;
    for (const auto& resource : reply->resources) {
        const ResourcePattern pattern{AclResource(resource.resource_type), std::string(resource.resource_name),
                                      AclPattern(resource.pattern_type)};
        for (const auto& acl : resource.acls) {
            rules.insert({pattern,
                          {std::string(acl.principal), std::string(acl.host), AclOperation(acl.operation),
                           AclEffect(acl.permission_type)}});
        }
    }
    return rules;
}

Result<void> create_acls(Cluster& cluster, const std::vector<BoundRule>& rules) {
    std::vector<CreateAclsRequest::AclCreation> creations;
    for (const BoundRule& bound : rules) {
        creations.push_back({.resource_type = bound.pattern.type.value,
                             .resource_name = *bound.pattern.name,
                             .resource_pattern_type = bound.pattern.pattern.value,
                             .principal = bound.rule.principal,
                             .host = bound.rule.host,
                             .operation = bound.rule.operation.value,
                             .permission_type = bound.rule.effect.value});
    }
    auto reply =
        cluster.ask<CreateAclsResponse>(Route::controller(), {.name = "createAcls"}, CreateAclsRequest{.creations = creations});
    PARTITA_TRY(reply);
    for (const auto& result : (*reply)->results) {
        if (result.error_code != ErrorCode::none) {
            return std::unexpected(refusal(result.error_code, result.error_message.value_or("")));
        }
    }
    return {};
}

Result<void> delete_acls(Cluster& cluster, const ResourcePattern& filter, const std::set<AccessRule>& rules) {
    const DeleteAclsRequest::DeleteAclsFilter all{.resource_type_filter = filter.type.value,
                                                  .resource_name_filter = view_of(filter.name),
                                                  .pattern_type_filter = filter.pattern.value,
                                                  .principal_filter = std::nullopt,
                                                  .host_filter = std::nullopt,
                                                  .operation = access::kAnyCode,
                                                  .permission_type = access::kAnyCode};
    std::vector<DeleteAclsRequest::DeleteAclsFilter> filters;
    if (rules.empty()) {
        filters.push_back(all);
    }
    for (const AccessRule& rule : rules) {
        auto& one = filters.emplace_back(all);
        one.principal_filter = rule.principal;
        one.host_filter = rule.host;
        one.operation = rule.operation.value;
        one.permission_type = rule.effect.value;
    }
    auto reply =
        cluster.ask<DeleteAclsResponse>(Route::controller(), {.name = "deleteAcls"}, DeleteAclsRequest{.filters = filters});
    PARTITA_TRY(reply);
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
