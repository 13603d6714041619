#include "protocol/messages/14_sync_group.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(SyncGroupRequest::Assignment,
    FIELD(member_id, "MemberId"),
    FIELD(assignment, "Assignment"))

PARTITA_MESSAGE(SyncGroupRequest, versions(0, 5), flexible_since(4),
    FIELD(group_id, "GroupId"),
    FIELD(generation_id, "GenerationId"),
    FIELD(member_id, "MemberId"),
    FIELD(group_instance_id, "GroupInstanceId", since(3), nullable()),
    FIELD(protocol_type, "ProtocolType", since(5), nullable(), ignorable),
    FIELD(protocol_name, "ProtocolName", since(5), nullable(), ignorable),
    FIELD(assignments, "Assignments"))

PARTITA_MESSAGE(SyncGroupResponse, versions(0, 5), flexible_since(4),
    FIELD(throttle_time_ms, "ThrottleTimeMs", since(1), ignorable),
    FIELD(error_code, "ErrorCode"),
    FIELD(protocol_type, "ProtocolType", since(5), nullable(), ignorable),
    FIELD(protocol_name, "ProtocolName", since(5), nullable(), ignorable),
    FIELD(assignment, "Assignment"))

PARTITA_API(sync_group, SyncGroup)
// clang-format on

}  // namespace partita
