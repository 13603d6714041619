#include "protocol/messages/30_create_acls.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(CreateAclsRequest::AclCreation,
    FIELD(resource_type, "ResourceType"),
    FIELD(resource_name, "ResourceName"),
    FIELD(resource_pattern_type, "ResourcePatternType"),
    FIELD(principal, "Principal"),
    FIELD(host, "Host"),
    FIELD(operation, "Operation"),
    FIELD(permission_type, "PermissionType"))

PARTITA_MESSAGE(CreateAclsRequest, versions(1, 3), flexible_since(2),
    FIELD(creations, "Creations"))

PARTITA_STRUCT(CreateAclsResponse::AclCreationResult,
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()))

PARTITA_MESSAGE(CreateAclsResponse, versions(1, 3), flexible_since(2),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(results, "Results"))

PARTITA_API(create_acls, CreateAcls)
// clang-format on

}  // namespace partita
