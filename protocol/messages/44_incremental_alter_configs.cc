#include "protocol/messages/44_incremental_alter_configs.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(IncrementalAlterConfigsRequest::AlterableConfig,
    FIELD(name, "Name"),
    FIELD(config_operation, "ConfigOperation"),
    FIELD(value, "Value", nullable()))

PARTITA_STRUCT(IncrementalAlterConfigsRequest::AlterConfigsResource,
    FIELD(resource_type, "ResourceType"),
    FIELD(resource_name, "ResourceName"),
    FIELD(configs, "Configs"))

PARTITA_MESSAGE(IncrementalAlterConfigsRequest, versions(0, 1), flexible_since(1),
    FIELD(resources, "Resources"),
    FIELD(validate_only, "ValidateOnly"))

PARTITA_STRUCT(IncrementalAlterConfigsResponse::AlterConfigsResourceResponse,
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(resource_type, "ResourceType"),
    FIELD(resource_name, "ResourceName"))

PARTITA_MESSAGE(IncrementalAlterConfigsResponse, versions(0, 1), flexible_since(1),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(responses, "Responses"))

PARTITA_API(incremental_alter_configs, IncrementalAlterConfigs)
// clang-format on

}  // namespace partita
