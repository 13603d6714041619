#include "protocol/messages/29_describe_acls.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(DescribeAclsRequest, versions(1, 3), flexible_since(2),
    FIELD(resource_type_filter, "ResourceTypeFilter"),
    FIELD(resource_name_filter, "ResourceNameFilter", nullable()),
    FIELD(pattern_type_filter, "PatternTypeFilter"),
    FIELD(principal_filter, "PrincipalFilter", nullable()),
    FIELD(host_filter, "HostFilter", nullable()),
    FIELD(operation, "Operation"),
    FIELD(permission_type, "PermissionType"))

PARTITA_STRUCT(DescribeAclsResponse::AclDescription,
    FIELD(principal, "Principal"),
    FIELD(host, "Host"),
    FIELD(operation, "Operation"),
    FIELD(permission_type, "PermissionType"))

PARTITA_STRUCT(DescribeAclsResponse::DescribeAclsResource,
    FIELD(resource_type, "ResourceType"),
    FIELD(resource_name, "ResourceName"),
    FIELD(pattern_type, "PatternType"),
    FIELD(acls, "Acls"))

PARTITA_MESSAGE(DescribeAclsResponse, versions(1, 3), flexible_since(2),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(resources, "Resources"))

PARTITA_API(describe_acls, DescribeAcls)
// clang-format on

}  // namespace partita
