// DeleteAcls: v1-3, flexible from 2. Answered as by a Kafka without authorizer.

#include "protocol/messages/31_delete_acls.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/security_disabled.h"

namespace partita::handlers {

void delete_acls(runtime::RequestContext& context) {
    const DeleteAclsRequest* request = context.decode<DeleteAclsRequest>();
    if (request == nullptr) {
        return;
    }
    ArenaVector<DeleteAclsResponse::DeleteAclsFilterResult> results(context.arena(), request->filters.count());
    const bool may_alter = authorize_cluster(context, access::kAlterCluster);
    const ErrorCode error = may_alter ? ErrorCode::security_disabled : ErrorCode::cluster_authorization_failed;
    const std::string_view message = may_alter ? kNoAuthorizerToChange : error_message(error);
    for (std::size_t i = 0; i < request->filters.count(); ++i) {
        results.push_back({.error_code = error, .error_message = message});
    }
    DeleteAclsResponse response;
    response.filter_results = results;
    context.reply(response);
}

}  // namespace partita::handlers
