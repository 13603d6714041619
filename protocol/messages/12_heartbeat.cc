#include "protocol/messages/12_heartbeat.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(HeartbeatRequest, versions(0, 4), flexible_since(4),
    FIELD(group_id, "GroupId"),
    FIELD(generation_id, "GenerationId"),
    FIELD(member_id, "MemberId"),
    FIELD(group_instance_id, "GroupInstanceId", since(3), nullable()))

PARTITA_MESSAGE(HeartbeatResponse, versions(0, 4), flexible_since(4),
    FIELD(throttle_time_ms, "ThrottleTimeMs", since(1), ignorable),
    FIELD(error_code, "ErrorCode"))

PARTITA_API(heartbeat, Heartbeat)
// clang-format on

}  // namespace partita
