#include "protocol/messages/16_list_groups.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(ListGroupsRequest, versions(0, 5), flexible_since(3),
    FIELD(states_filter, "StatesFilter", since(4)),
    FIELD(types_filter, "TypesFilter", since(5)))

PARTITA_STRUCT(ListGroupsResponse::ListedGroup,
    FIELD(group_id, "GroupId"),
    FIELD(protocol_type, "ProtocolType"),
    FIELD(group_state, "GroupState", since(4), ignorable),
    FIELD(group_type, "GroupType", since(5), ignorable))

PARTITA_MESSAGE(ListGroupsResponse, versions(0, 5), flexible_since(3),
    FIELD(throttle_time_ms, "ThrottleTimeMs", since(1), ignorable),
    FIELD(error_code, "ErrorCode"),
    FIELD(groups, "Groups"))

PARTITA_API(list_groups, ListGroups)
// clang-format on

}  // namespace partita
