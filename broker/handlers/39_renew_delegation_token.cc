// RenewDelegationToken: v1-2, flexible from 2.

#include "protocol/messages/39_renew_delegation_token.h"

#include "broker/handlers/registry.h"
#include "broker/handlers/token_requests.h"

namespace partita::handlers {

PARTITA_SERVES(renew_delegation_token);

void renew_delegation_token(runtime::RequestContext& context) {
    const RenewDelegationTokenRequest* request = context.decode<RenewDelegationTokenRequest>();
    if (request == nullptr) {
        return;
    }
    const catalog::MoveExpiryReply reply =
        move_token_expiry(context, request->hmac, request->renew_period_ms, catalog::renew_delegation_token);
    RenewDelegationTokenResponse response;
    response.error_code = reply.error;
    response.expiry_timestamp_ms = reply.expires_ms;
    context.reply(response);
}

}  // namespace partita::handlers
