// DeleteAcls: v1-3, flexible from 2.
//
// Kafka closes the connection if a type is 0 (UNKNOWN). This broker refuses such a filter like one with any other unknown type.

#include "protocol/messages/31_delete_acls.h"

#include "broker/catalog/acls.h"
#include "broker/handlers/admin_replies.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/cluster_refusal.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/security_disabled.h"
#include "broker/runtime/catalog/catalog.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(delete_acls, catalog, access::kAlterCluster);

namespace {

using Results = ArenaVector<DeleteAclsResponse::DeleteAclsFilterResult>;
using Match = DeleteAclsResponse::DeleteAclsMatchingAcl;

void refuse_all(runtime::RequestContext& context, const DeleteAclsRequest& request, ErrorCode error, std::string_view message) {
    Results results(context.arena(), request.filters.count());
    for (std::size_t i = 0; i < request.filters.count(); ++i) {
        results.push_back({.error_code = error, .error_message = message});
    }
    DeleteAclsResponse response;
    response.filter_results = results;
    context.reply(response);
}

Match encoded(const access::Acl& acl) {
    return {.error_message = std::nullopt,
            .resource_type = static_cast<std::int8_t>(acl.resource),
            .resource_name = acl.name,
            .pattern_type = static_cast<std::int8_t>(acl.pattern),
            .principal = acl.principal,
            .host = acl.host,
            .operation = static_cast<std::int8_t>(acl.operation),
            .permission_type = static_cast<std::int8_t>(acl.effect)};
}

}  // namespace

void delete_acls(runtime::RequestContext& context, runtime::Catalog& catalog) {
    const DeleteAclsRequest* request = context.decode<DeleteAclsRequest>();
    if (request == nullptr) {
        return;
    }
    if (context.services.authorizer.allows_everything()) {
        return refuse_all(context, *request, ErrorCode::security_disabled, kNoAuthorizerToChange);
    }
    if (!authorize_cluster(context, access::kAlterCluster)) {
        return refuse_all(context, *request, ErrorCode::cluster_authorization_failed,
                          cluster_refusal(context, access::kAlterCluster));
    }
    catalog::DeleteAcls command;
    for (const DeleteAclsRequest::DeleteAclsFilter& filter : request->filters) {
        command.filters.push_back({.resource = filter.resource_type_filter,
                                   .pattern = filter.pattern_type_filter,
                                   .name = filter.resource_name_filter,
                                   .principal = filter.principal_filter,
                                   .host = filter.host_filter,
                                   .operation = filter.operation,
                                   .effect = filter.permission_type});
    }
    const auto reply = catalog.change(context.turn, command);
    if (!reply) {
        return refuse_all(context, *request, ErrorCode::kafka_storage_error, kCatalogNotWritten);
    }
    // The response lists the deleted rules: `reply` keeps them alive until they are encoded.
    Results results(context.arena(), reply->results.size());
    for (const catalog::DeletedAcls& deleted : reply->results) {
        ArenaVector<Match> matches(context.arena(), deleted.acls.size());
        for (const access::AclPointer& acl : deleted.acls) {
            matches.push_back(encoded(*acl));
        }
        results.push_back({.error_code = deleted.error.code,
                           .error_message = message_of(deleted.error, context.arena()),
                           .matching_acls = matches});
    }
    DeleteAclsResponse response;
    response.filter_results = results;
    context.reply(response);
}

}  // namespace partita::handlers
