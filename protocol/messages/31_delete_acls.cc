#include "protocol/messages/31_delete_acls.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(DeleteAclsRequest::DeleteAclsFilter,
    FIELD(resource_type_filter, "ResourceTypeFilter"),
    FIELD(resource_name_filter, "ResourceNameFilter", nullable()),
    FIELD(pattern_type_filter, "PatternTypeFilter"),
    FIELD(principal_filter, "PrincipalFilter", nullable()),
    FIELD(host_filter, "HostFilter", nullable()),
    FIELD(operation, "Operation"),
    FIELD(permission_type, "PermissionType"))

PARTITA_MESSAGE(DeleteAclsRequest, versions(1, 3), flexible_since(2),
    FIELD(filters, "Filters"))

PARTITA_STRUCT(DeleteAclsResponse::DeleteAclsMatchingAcl,
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(resource_type, "ResourceType"),
    FIELD(resource_name, "ResourceName"),
    FIELD(pattern_type, "PatternType"),
    FIELD(principal, "Principal"),
    FIELD(host, "Host"),
    FIELD(operation, "Operation"),
    FIELD(permission_type, "PermissionType"))

PARTITA_STRUCT(DeleteAclsResponse::DeleteAclsFilterResult,
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(matching_acls, "MatchingAcls"))

PARTITA_MESSAGE(DeleteAclsResponse, versions(1, 3), flexible_since(2),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(filter_results, "FilterResults"))

PARTITA_API(delete_acls, DeleteAcls)
// clang-format on

}  // namespace partita
