#include "protocol/messages/10_find_coordinator.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(FindCoordinatorRequest, versions(0, 6), flexible_since(3),
    FIELD(key, "Key", versions(0, 3)),
    FIELD(key_type, "KeyType", since(1)),
    FIELD(coordinator_keys, "CoordinatorKeys", since(4)))

PARTITA_STRUCT(FindCoordinatorResponse::Coordinator,
    FIELD(key, "Key", since(4)),
    FIELD(node_id, "NodeId", since(4)),
    FIELD(host, "Host", since(4)),
    FIELD(port, "Port", since(4)),
    FIELD(error_code, "ErrorCode", since(4)),
    FIELD(error_message, "ErrorMessage", since(4), nullable(), ignorable))

PARTITA_MESSAGE(FindCoordinatorResponse, versions(0, 6), flexible_since(3),
    FIELD(throttle_time_ms, "ThrottleTimeMs", since(1), ignorable),
    FIELD(error_code, "ErrorCode", versions(0, 3)),
    FIELD(error_message, "ErrorMessage", versions(1, 3), nullable(), ignorable),
    FIELD(node_id, "NodeId", versions(0, 3)),
    FIELD(host, "Host", versions(0, 3)),
    FIELD(port, "Port", versions(0, 3)),
    FIELD(coordinators, "Coordinators", since(4)))

PARTITA_API(find_coordinator, FindCoordinator)
// clang-format on

}  // namespace partita
