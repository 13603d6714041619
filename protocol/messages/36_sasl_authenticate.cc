#include "protocol/messages/36_sasl_authenticate.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(SaslAuthenticateRequest, versions(0, 2), flexible_since(2),
    FIELD(auth_bytes, "AuthBytes"))

PARTITA_MESSAGE(SaslAuthenticateResponse, versions(0, 2), flexible_since(2),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(auth_bytes, "AuthBytes"),
    FIELD(session_lifetime_ms, "SessionLifetimeMs", since(1), ignorable))

PARTITA_API(sasl_authenticate, SaslAuthenticate)
// clang-format on

}  // namespace partita
