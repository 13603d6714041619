#include "protocol/messages/13_leave_group.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(LeaveGroupRequest::MemberIdentity,
    FIELD(member_id, "MemberId", since(3)),
    FIELD(group_instance_id, "GroupInstanceId", since(3), nullable()),
    FIELD(reason, "Reason", since(5), nullable(), ignorable))

PARTITA_MESSAGE(LeaveGroupRequest, versions(0, 5), flexible_since(4),
    FIELD(group_id, "GroupId"),
    FIELD(member_id, "MemberId", versions(0, 2)),
    FIELD(members, "Members", since(3)))

PARTITA_STRUCT(LeaveGroupResponse::MemberResponse,
    FIELD(member_id, "MemberId", since(3)),
    FIELD(group_instance_id, "GroupInstanceId", since(3), nullable()),
    FIELD(error_code, "ErrorCode", since(3)))

PARTITA_MESSAGE(LeaveGroupResponse, versions(0, 5), flexible_since(4),
    FIELD(throttle_time_ms, "ThrottleTimeMs", since(1), ignorable),
    FIELD(error_code, "ErrorCode"),
    FIELD(members, "Members", since(3)))

PARTITA_API(leave_group, LeaveGroup)
// clang-format on

}  // namespace partita
