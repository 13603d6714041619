// DescribeDelegationToken: v1-3.
//
//   v2: flexible; v3: who asked for the token.
//
// Kafka refuses it over plain text connections.

#include "protocol/messages/41_describe_delegation_token.h"
#include "broker/handlers/registry.h"

namespace partita::handlers {

void describe_delegation_token(runtime::RequestContext& context) {
    if (context.decode<DescribeDelegationTokenRequest>() == nullptr) {
        return;
    }
    DescribeDelegationTokenResponse response;
    response.error_code = ErrorCode::delegation_token_request_not_allowed;
    context.reply(response);
}

}  // namespace partita::handlers
