#pragma once

#include "protocol/schema.h"

namespace partita {

/// IncrementalAlterConfigs (key 44): versions 0 to 1, flexible from 1.
///
///   v1: Flexible encoding.
struct IncrementalAlterConfigsRequest {
    struct AlterableConfig {
        std::string_view name;
        std::int8_t config_operation = 0;
        std::optional<std::string_view> value = "";  ///< may be null

        static const Schema schema;
    };

    struct AlterConfigsResource {
        std::int8_t resource_type = 0;
        std::string_view resource_name;
        Array<AlterableConfig> configs;

        static const Schema schema;
    };

    Array<AlterConfigsResource> resources;
    bool validate_only = false;

    static const Schema schema;
};

struct IncrementalAlterConfigsResponse {
    struct AlterConfigsResourceResponse {
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message = "";  ///< may be null
        std::int8_t resource_type = 0;
        std::string_view resource_name;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<AlterConfigsResourceResponse> responses;

    static const Schema schema;
};

}  // namespace partita
