#include "protocol/messages/11_join_group.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(JoinGroupRequest::Protocol,
    FIELD(name, "Name"),
    FIELD(metadata, "Metadata"))

PARTITA_MESSAGE(JoinGroupRequest, versions(0, 9), flexible_since(6),
    FIELD(group_id, "GroupId"),
    FIELD(session_timeout_ms, "SessionTimeoutMs"),
    FIELD(rebalance_timeout_ms, "RebalanceTimeoutMs", since(1), ignorable),
    FIELD(member_id, "MemberId"),
    FIELD(group_instance_id, "GroupInstanceId", since(5), nullable()),
    FIELD(protocol_type, "ProtocolType"),
    FIELD(protocols, "Protocols"),
    FIELD(reason, "Reason", since(8), nullable(), ignorable))

PARTITA_STRUCT(JoinGroupResponse::Member,
    FIELD(member_id, "MemberId"),
    FIELD(group_instance_id, "GroupInstanceId", since(5), nullable(), ignorable),
    FIELD(metadata, "Metadata"))

PARTITA_MESSAGE(JoinGroupResponse, versions(0, 9), flexible_since(6),
    FIELD(throttle_time_ms, "ThrottleTimeMs", since(2), ignorable),
    FIELD(error_code, "ErrorCode"),
    FIELD(generation_id, "GenerationId"),
    FIELD(protocol_type, "ProtocolType", since(7), nullable(), ignorable),
    FIELD(protocol_name, "ProtocolName", nullable(since(7))),
    FIELD(leader, "Leader"),
    FIELD(skip_assignment, "SkipAssignment", since(9)),
    FIELD(member_id, "MemberId"),
    FIELD(members, "Members"))

PARTITA_API(join_group, JoinGroup)
// clang-format on

}  // namespace partita
