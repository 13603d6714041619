#include "protocol/messages/15_describe_groups.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(DescribeGroupsRequest, versions(0, 6), flexible_since(5),
    FIELD(groups, "Groups"),
    FIELD(include_authorized_operations, "IncludeAuthorizedOperations", since(3)))

PARTITA_STRUCT(DescribeGroupsResponse::DescribedGroupMember,
    FIELD(member_id, "MemberId"),
    FIELD(group_instance_id, "GroupInstanceId", since(4), nullable(), ignorable),
    FIELD(client_id, "ClientId"),
    FIELD(client_host, "ClientHost"),
    FIELD(member_metadata, "MemberMetadata"),
    FIELD(member_assignment, "MemberAssignment"))

PARTITA_STRUCT(DescribeGroupsResponse::DescribedGroup,
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", since(6), nullable()),
    FIELD(group_id, "GroupId"),
    FIELD(group_state, "GroupState"),
    FIELD(protocol_type, "ProtocolType"),
    FIELD(protocol_data, "ProtocolData"),
    FIELD(members, "Members"),
    FIELD(authorized_operations, "AuthorizedOperations", since(3)))

PARTITA_MESSAGE(DescribeGroupsResponse, versions(0, 6), flexible_since(5),
    FIELD(throttle_time_ms, "ThrottleTimeMs", since(1), ignorable),
    FIELD(groups, "Groups"))

PARTITA_API(describe_groups, DescribeGroups)
// clang-format on

}  // namespace partita
