// DescribeAcls: v1-3, flexible from 2.
//
// Kafka closes the connection if a type is 0 (UNKNOWN). Here such a filter matches nothing, like any other unknown type.

#include "protocol/messages/29_describe_acls.h"

#include <algorithm>

#include "broker/access/acl_index.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/cluster_refusal.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/security_disabled.h"
#include "broker/logs/turn.h"

namespace partita::handlers {

PARTITA_SERVES(describe_acls, access::kDescribeCluster);

namespace {

using Response = DescribeAclsResponse;

std::vector<const access::Acl*> matching(runtime::RequestContext& context, const DescribeAclsRequest& request) {
    const access::AclFilter filter{.resource = request.resource_type_filter,
                                   .pattern = request.pattern_type_filter,
                                   .name = request.resource_name_filter,
                                   .principal = request.principal_filter,
                                   .host = request.host_filter,
                                   .operation = request.operation,
                                   .effect = request.permission_type};
    std::vector<const access::Acl*> found;
    for (const access::AclPointer& acl : context.turn.topics().catalog->acls().acls()) {
        if (filter.matches(*acl)) {
            found.push_back(acl.get());
        }
    }
    return found;
}

Response::DescribeAclsResource encoded(Arena& arena, std::span<const access::Acl* const> of_one_pattern) {
    const access::Acl& first = *of_one_pattern.front();
    ArenaVector<Response::AclDescription> acls(arena, of_one_pattern.size());
    for (const access::Acl* acl : of_one_pattern) {
        acls.push_back({.principal = acl->principal,
                        .host = acl->host,
                        .operation = static_cast<std::int8_t>(acl->operation),
                        .permission_type = static_cast<std::int8_t>(acl->effect)});
    }
    return {.resource_type = static_cast<std::int8_t>(first.resource),
            .resource_name = first.name,
            .pattern_type = static_cast<std::int8_t>(first.pattern),
            .acls = acls};
}

}  // namespace

void describe_acls(runtime::RequestContext& context) {
    const DescribeAclsRequest* request = context.decode<DescribeAclsRequest>();
    if (request == nullptr) {
        return;
    }
    Response response;
    if (context.services.authorizer.allows_everything()) {
        response.error_code = ErrorCode::security_disabled;
        response.error_message = kNoAuthorizerToDescribe;
        context.reply(response);
        return;
    }
    if (!authorize_cluster(context, access::kDescribeCluster)) {
        response.error_code = ErrorCode::cluster_authorization_failed;
        response.error_message = cluster_refusal(context, access::kDescribeCluster);
        context.reply(response);
        return;
    }
    // The topic table keeps the rules until the end of the turn. They are sorted by pattern.
    const std::vector<const access::Acl*> found = matching(context, *request);
    ArenaVector<Response::DescribeAclsResource> resources(context.arena());
    const auto has_same_pattern = [](const access::Acl* one, const access::Acl* other) {
        return one->resource == other->resource && one->pattern == other->pattern && one->name == other->name;
    };
    for (auto begin = found.begin(); begin != found.end();) {
        const auto end =
            std::find_if_not(begin, found.end(), [&](const access::Acl* acl) { return has_same_pattern(*begin, acl); });
        resources.push_back(encoded(context.arena(), {begin, end}));
        begin = end;
    }
    response.resources = resources;
    context.reply(response);
}

}  // namespace partita::handlers
