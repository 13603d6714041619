#include "protocol/messages/74_list_config_resources.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(ListConfigResourcesRequest, versions(0, 1), flexible_since(0),
    FIELD(resource_types, "ResourceTypes", since(1)))

PARTITA_STRUCT(ListConfigResourcesResponse::ConfigResource,
    FIELD(resource_name, "ResourceName"),
    FIELD(resource_type, "ResourceType", since(1), ignorable))

PARTITA_MESSAGE(ListConfigResourcesResponse, versions(0, 1), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(config_resources, "ConfigResources"))

PARTITA_API(list_config_resources, ListConfigResources)
// clang-format on

}  // namespace partita
