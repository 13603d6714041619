#include "protocol/messages/48_describe_client_quotas.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(DescribeClientQuotasRequest::ComponentData,
    FIELD(entity_type, "EntityType"),
    FIELD(match_type, "MatchType"),
    FIELD(match, "Match", nullable()))

PARTITA_MESSAGE(DescribeClientQuotasRequest, versions(0, 1), flexible_since(1),
    FIELD(components, "Components"),
    FIELD(strict, "Strict"))

PARTITA_STRUCT(DescribeClientQuotasResponse::EntityData,
    FIELD(entity_type, "EntityType"),
    FIELD(entity_name, "EntityName", nullable()))

PARTITA_STRUCT(DescribeClientQuotasResponse::ValueData,
    FIELD(key, "Key"),
    FIELD(value, "Value"))

PARTITA_STRUCT(DescribeClientQuotasResponse::EntryData,
    FIELD(entity, "Entity"),
    FIELD(values, "Values"))

PARTITA_MESSAGE(DescribeClientQuotasResponse, versions(0, 1), flexible_since(1),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(entries, "Entries", nullable()))

PARTITA_API(describe_client_quotas, DescribeClientQuotas)
// clang-format on

}  // namespace partita
