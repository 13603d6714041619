#include "protocol/messages/42_delete_groups.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(DeleteGroupsRequest, versions(0, 2), flexible_since(2),
    FIELD(groups_names, "GroupsNames"))

PARTITA_STRUCT(DeleteGroupsResponse::DeletableGroupResult,
    FIELD(group_id, "GroupId"),
    FIELD(error_code, "ErrorCode"))

PARTITA_MESSAGE(DeleteGroupsResponse, versions(0, 2), flexible_since(2),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(results, "Results"))

PARTITA_API(delete_groups, DeleteGroups)
// clang-format on

}  // namespace partita
