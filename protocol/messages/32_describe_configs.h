#pragma once

#include "protocol/schema.h"

namespace partita {

/// DescribeConfigs (key 32): versions 1 to 4, flexible from 4.
///
///   v2: No change of layout.
///   v3: The request gains IncludeDocumentation; the response gains ConfigType, Documentation.
///   v4: Flexible encoding.
struct DescribeConfigsRequest {
    struct DescribeConfigsResource {
        std::int8_t resource_type = 0;
        std::string_view resource_name;
        Array<std::string_view> configuration_keys;  ///< may be null

        static const Schema schema;
    };

    Array<DescribeConfigsResource> resources;
    bool include_synonyms = false;
    bool include_documentation = false;  ///< v3 and later

    static const Schema schema;
};

struct DescribeConfigsResponse {
    struct DescribeConfigsSynonym {
        std::string_view name;
        std::optional<std::string_view> value = "";  ///< may be null
        std::int8_t source = 0;

        static const Schema schema;
    };

    struct DescribeConfigsResourceResult {
        std::string_view name;
        std::optional<std::string_view> value = "";  ///< may be null
        bool read_only = false;
        std::int8_t config_source = -1;
        bool is_sensitive = false;
        Array<DescribeConfigsSynonym> synonyms;
        std::int8_t config_type = 0;                         ///< v3 and later
        std::optional<std::string_view> documentation = "";  ///< v3 and later, may be null

        static const Schema schema;
    };

    struct DescribeConfigsResult {
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message = "";  ///< may be null
        std::int8_t resource_type = 0;
        std::string_view resource_name;
        Array<DescribeConfigsResourceResult> configs;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<DescribeConfigsResult> results;

    static const Schema schema;
};

}  // namespace partita
