// RenewDelegationToken: v1-2, flexible from 2. Kafka refuses it over plain text connections.

#include "protocol/messages/39_renew_delegation_token.h"
#include "broker/handlers/registry.h"

namespace partita::handlers {

void renew_delegation_token(runtime::RequestContext& context) {
    if (context.decode<RenewDelegationTokenRequest>() == nullptr) {
        return;
    }
    RenewDelegationTokenResponse response;
    response.error_code = ErrorCode::delegation_token_request_not_allowed;
    response.expiry_timestamp_ms = -1;
    context.reply(response);
}

}  // namespace partita::handlers
