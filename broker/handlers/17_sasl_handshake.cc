// SaslHandshake: v0-1.
//
// Kafka's front answers the requests of a login itself. After a completed login, and on a listener without SASL, Kafka answers
// ILLEGAL_SASL_STATE.

#include "protocol/messages/17_sasl_handshake.h"
#include "broker/handlers/registry.h"

namespace partita::handlers {

PARTITA_SERVES(sasl_handshake);

void sasl_handshake(runtime::RequestContext& context) {
    if (context.decode<SaslHandshakeRequest>() == nullptr) {
        return;
    }
    SaslHandshakeResponse response;
    response.error_code = ErrorCode::illegal_sasl_state;
    context.reply(response);
}

}  // namespace partita::handlers
