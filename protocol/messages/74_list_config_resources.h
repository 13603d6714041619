#pragma once

#include "protocol/schema.h"

namespace partita {

/// ListConfigResources (key 74): versions 0 to 1, always flexible.
///
///   v1: The request gains ResourceTypes; the response gains ResourceType.
struct ListConfigResourcesRequest {
    Array<std::int8_t> resource_types;  ///< v1

    static const Schema schema;
};

struct ListConfigResourcesResponse {
    struct ConfigResource {
        std::string_view resource_name;
        std::int8_t resource_type = 16;  ///< v1

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    Array<ConfigResource> config_resources;

    static const Schema schema;
};

}  // namespace partita
