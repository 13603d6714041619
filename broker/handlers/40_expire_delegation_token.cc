// ExpireDelegationToken: v1-2, flexible from 2. A negative period removes the token.

#include "protocol/messages/40_expire_delegation_token.h"

#include "broker/handlers/registry.h"
#include "broker/handlers/token_requests.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/catalog.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(expire_delegation_token, catalog);

namespace {

catalog::MoveExpiryResult move_expiry(runtime::RequestContext& context, runtime::Catalog& catalog,
                                      const ExpireDelegationTokenRequest& request) {
    const auto token = named_token(context, request.hmac);
    if (!token) {
        return token.error();
    }
    const catalog::ExpireDelegationToken command{
        .token_id = token->id, .requester = token->requester, .period_ms = request.expiry_time_period_ms};
    const auto result = catalog.change(context.turn, command);
    return result.value_or(catalog::MoveExpiryResult{.error = ErrorCode::kafka_storage_error});
}

}  // namespace

void expire_delegation_token(runtime::RequestContext& context, runtime::Catalog& catalog) {
    const ExpireDelegationTokenRequest* request = context.decode<ExpireDelegationTokenRequest>();
    if (request == nullptr) {
        return;
    }
    const catalog::MoveExpiryResult result = move_expiry(context, catalog, *request);
    ExpireDelegationTokenResponse response;
    response.error_code = result.error;
    response.expiry_timestamp_ms = result.expires_ms;
    context.reply(response);
}

}  // namespace partita::handlers
