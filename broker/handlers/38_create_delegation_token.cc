// CreateDelegationToken: v1-3.
//
//   v2: flexible; v3: owner and requester (KIP-373).
//
// Kafka gives no tokens over plain text connections.

#include "protocol/messages/38_create_delegation_token.h"
#include "broker/handlers/registry.h"

namespace partita::handlers {

void create_delegation_token(runtime::RequestContext& context) {
    const CreateDelegationTokenRequest* request = context.decode<CreateDelegationTokenRequest>();
    if (request == nullptr) {
        return;
    }
    CreateDelegationTokenResponse response;
    response.error_code = ErrorCode::delegation_token_request_not_allowed;
    if (context.version() >= 3) {
        response.token_requester_principal_type = context.principal().type();
        response.token_requester_principal_name = context.principal().name();
    }
    const std::string_view owner = request->owner_principal_name.value_or("");
    response.principal_type = owner.empty() ? context.principal().type() : request->owner_principal_type.value_or("");
    response.principal_name = owner.empty() ? context.principal().name() : owner;
    response.issue_timestamp_ms = -1;
    response.expiry_timestamp_ms = -1;
    response.max_timestamp_ms = -1;
    context.reply(response);
}

}  // namespace partita::handlers
