#include "protocol/messages/17_sasl_handshake.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(SaslHandshakeRequest, versions(0, 1), never_flexible,
    FIELD(mechanism, "Mechanism"))

PARTITA_MESSAGE(SaslHandshakeResponse, versions(0, 1), never_flexible,
    FIELD(error_code, "ErrorCode"),
    FIELD(mechanisms, "Mechanisms"))

PARTITA_API(sasl_handshake, SaslHandshake)
// clang-format on

}  // namespace partita
