#include "protocol/messages/33_alter_configs.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(AlterConfigsRequest::AlterableConfig,
    FIELD(name, "Name"),
    FIELD(value, "Value", nullable()))

PARTITA_STRUCT(AlterConfigsRequest::AlterConfigsResource,
    FIELD(resource_type, "ResourceType"),
    FIELD(resource_name, "ResourceName"),
    FIELD(configs, "Configs"))

PARTITA_MESSAGE(AlterConfigsRequest, versions(0, 2), flexible_since(2),
    FIELD(resources, "Resources"),
    FIELD(validate_only, "ValidateOnly"))

PARTITA_STRUCT(AlterConfigsResponse::AlterConfigsResourceResponse,
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(resource_type, "ResourceType"),
    FIELD(resource_name, "ResourceName"))

PARTITA_MESSAGE(AlterConfigsResponse, versions(0, 2), flexible_since(2),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(responses, "Responses"))

PARTITA_API(alter_configs, AlterConfigs)
// clang-format on

}  // namespace partita
