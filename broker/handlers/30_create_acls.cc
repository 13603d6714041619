// CreateAcls: v1-3, flexible from 2.
//
// Kafka closes the connection if a type is 0 (UNKNOWN). This broker refuses such an ACL like one with any other unknown type.

#include "protocol/messages/30_create_acls.h"

#include "broker/catalog/acls.h"
#include "broker/handlers/admin_replies.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/cluster_refusal.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/security_disabled.h"
#include "broker/runtime/catalog/catalog.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(create_acls, catalog, access::kAlterCluster);

namespace {

using Results = ArenaVector<CreateAclsResponse::AclCreationResult>;

void refuse_all(runtime::RequestContext& context, const CreateAclsRequest& request, ErrorCode error, std::string_view message) {
    Results results(context.arena(), request.creations.count());
    for (std::size_t i = 0; i < request.creations.count(); ++i) {
        results.push_back({.error_code = error, .error_message = message});
    }
    CreateAclsResponse response;
    response.results = results;
    context.reply(response);
}

}  // namespace

void create_acls(runtime::RequestContext& context, runtime::Catalog& catalog) {
    const CreateAclsRequest* request = context.decode<CreateAclsRequest>();
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
    catalog::CreateAcls command;
    for (const CreateAclsRequest::AclCreation& acl : request->creations) {
        command.acls.push_back({.resource = acl.resource_type,
                                .pattern = acl.resource_pattern_type,
                                .name = acl.resource_name,
                                .principal = acl.principal,
                                .host = acl.host,
                                .operation = acl.operation,
                                .effect = acl.permission_type});
    }
    const auto reply = catalog.change(context.turn, command);
    if (!reply) {
        return refuse_all(context, *request, ErrorCode::kafka_storage_error, kCatalogNotWritten);
    }
    Results results(context.arena(), reply->results.size());
    for (const catalog::CatalogError& error : reply->results) {
        CreateAclsResponse::AclCreationResult& result = results.emplace_back();
        if (error.failed()) {
            result = {.error_code = error.code, .error_message = message_of(error, context.arena())};
        }
    }
    CreateAclsResponse response;
    response.results = results;
    context.reply(response);
}

}  // namespace partita::handlers
