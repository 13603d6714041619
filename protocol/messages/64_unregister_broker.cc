#include "protocol/messages/64_unregister_broker.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(UnregisterBrokerRequest, versions(0, 0), flexible_since(0),
    FIELD(broker_id, "BrokerId"))

PARTITA_MESSAGE(UnregisterBrokerResponse, versions(0, 0), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()))

PARTITA_API(unregister_broker, UnregisterBroker)
// clang-format on

}  // namespace partita
