// RenewDelegationToken: v1-2, flexible from 2.

#include "protocol/messages/39_renew_delegation_token.h"

#include "broker/handlers/registry.h"
#include "broker/handlers/token_requests.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/catalog.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(renew_delegation_token, catalog);

namespace {

catalog::MoveExpiryResult move_expiry(runtime::RequestContext& context, runtime::Catalog& catalog,
                                      const RenewDelegationTokenRequest& request) {
    const auto token = named_token(context, request.hmac);
    if (!token) {
        return token.error();
    }
    const catalog::RenewDelegationToken command{.token_id = token->id,
                                                .requester = token->requester,
                                                .period_ms = request.renew_period_ms,
                                                .lifetimes = token_lifetimes(context)};
    const auto result = catalog.change(context.turn, command);
    return result.value_or(catalog::MoveExpiryResult{.error = ErrorCode::kafka_storage_error});
}

}  // namespace

void renew_delegation_token(runtime::RequestContext& context, runtime::Catalog& catalog) {
    const RenewDelegationTokenRequest* request = context.decode<RenewDelegationTokenRequest>();
    if (request == nullptr) {
        return;
    }
    const catalog::MoveExpiryResult result = move_expiry(context, catalog, *request);
    RenewDelegationTokenResponse response;
    response.error_code = result.error;
    response.expiry_timestamp_ms = result.expires_ms;
    context.reply(response);
}

}  // namespace partita::handlers
