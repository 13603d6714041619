// ExpireDelegationToken: v1-2, flexible from 2. A negative period removes the token.

#include "protocol/messages/40_expire_delegation_token.h"

#include "broker/handlers/registry.h"
#include "broker/handlers/token_requests.h"

namespace partita::handlers {

PARTITA_SERVES(expire_delegation_token);

void expire_delegation_token(runtime::RequestContext& context) {
    const ExpireDelegationTokenRequest* request = context.decode<ExpireDelegationTokenRequest>();
    if (request == nullptr) {
        return;
    }
    const catalog::MoveExpiryReply reply =
        move_token_expiry(context, request->hmac, request->expiry_time_period_ms, catalog::expire_delegation_token);
    ExpireDelegationTokenResponse response;
    response.error_code = reply.error;
    response.expiry_timestamp_ms = reply.expires_ms;
    context.reply(response);
}

}  // namespace partita::handlers
