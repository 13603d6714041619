#include "protocol/messages/32_describe_configs.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(DescribeConfigsRequest::DescribeConfigsResource,
    FIELD(resource_type, "ResourceType"),
    FIELD(resource_name, "ResourceName"),
    FIELD(configuration_keys, "ConfigurationKeys", nullable()))

PARTITA_MESSAGE(DescribeConfigsRequest, versions(1, 4), flexible_since(4),
    FIELD(resources, "Resources"),
    FIELD(include_synonyms, "IncludeSynonyms"),
    FIELD(include_documentation, "IncludeDocumentation", since(3)))

PARTITA_STRUCT(DescribeConfigsResponse::DescribeConfigsSynonym,
    FIELD(name, "Name"),
    FIELD(value, "Value", nullable()),
    FIELD(source, "Source"))

PARTITA_STRUCT(DescribeConfigsResponse::DescribeConfigsResourceResult,
    FIELD(name, "Name"),
    FIELD(value, "Value", nullable()),
    FIELD(read_only, "ReadOnly"),
    FIELD(config_source, "ConfigSource", ignorable),
    FIELD(is_sensitive, "IsSensitive"),
    FIELD(synonyms, "Synonyms", ignorable),
    FIELD(config_type, "ConfigType", since(3), ignorable),
    FIELD(documentation, "Documentation", since(3), nullable(), ignorable))

PARTITA_STRUCT(DescribeConfigsResponse::DescribeConfigsResult,
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(resource_type, "ResourceType"),
    FIELD(resource_name, "ResourceName"),
    FIELD(configs, "Configs"))

PARTITA_MESSAGE(DescribeConfigsResponse, versions(1, 4), flexible_since(4),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(results, "Results"))

PARTITA_API(describe_configs, DescribeConfigs)
// clang-format on

}  // namespace partita
