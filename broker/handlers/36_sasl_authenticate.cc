// SaslAuthenticate: v0-2.
//
//   v1: session lifetime; v2: flexible.
//
// Kafka's front answers the requests of a login itself. A request reaches this handler after a completed login, or on a listener
// without SASL.

#include "protocol/messages/36_sasl_authenticate.h"
#include "broker/handlers/registry.h"

namespace partita::handlers {

PARTITA_SERVES(sasl_authenticate);

void sasl_authenticate(runtime::RequestContext& context) {
    if (context.decode<SaslAuthenticateRequest>() == nullptr) {
        return;
    }
    SaslAuthenticateResponse response;
    response.error_code = ErrorCode::illegal_sasl_state;
    response.error_message = "SaslAuthenticate request received after successful authentication";
    context.reply(response);
}

}  // namespace partita::handlers
