// CreateAcls: v1-3, flexible from 2. Answered as by a Kafka without authorizer.

#include "protocol/messages/30_create_acls.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/security_disabled.h"

namespace partita::handlers {

void create_acls(runtime::RequestContext& context) {
    const CreateAclsRequest* request = context.decode<CreateAclsRequest>();
    if (request == nullptr) {
        return;
    }
    ArenaVector<CreateAclsResponse::AclCreationResult> results(context.arena(), request->creations.count());
    const bool may_alter = authorize_cluster(context, access::kAlterCluster);
    const ErrorCode error = may_alter ? ErrorCode::security_disabled : ErrorCode::cluster_authorization_failed;
    const std::string_view message = may_alter ? kNoAuthorizerToChange : error_message(error);
    for (std::size_t i = 0; i < request->creations.count(); ++i) {
        results.push_back({.error_code = error, .error_message = message});
    }
    CreateAclsResponse response;
    response.results = results;
    context.reply(response);
}

}  // namespace partita::handlers
