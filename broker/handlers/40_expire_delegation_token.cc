// ExpireDelegationToken: v1-2, flexible from 2. Kafka refuses it over plain text connections.

#include "protocol/messages/40_expire_delegation_token.h"
#include "broker/handlers/registry.h"

namespace partita::handlers {

void expire_delegation_token(runtime::RequestContext& context) {
    if (context.decode<ExpireDelegationTokenRequest>() == nullptr) {
        return;
    }
    ExpireDelegationTokenResponse response;
    response.error_code = ErrorCode::delegation_token_request_not_allowed;
    response.expiry_timestamp_ms = -1;
    context.reply(response);
}

}  // namespace partita::handlers
