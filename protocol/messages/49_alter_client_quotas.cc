#include "protocol/messages/49_alter_client_quotas.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(AlterClientQuotasRequest::EntityData,
    FIELD(entity_type, "EntityType"),
    FIELD(entity_name, "EntityName", nullable()))

PARTITA_STRUCT(AlterClientQuotasRequest::OpData,
    FIELD(key, "Key"),
    FIELD(value, "Value"),
    FIELD(remove, "Remove"))

PARTITA_STRUCT(AlterClientQuotasRequest::EntryData,
    FIELD(entity, "Entity"),
    FIELD(ops, "Ops"))

PARTITA_MESSAGE(AlterClientQuotasRequest, versions(0, 1), flexible_since(1),
    FIELD(entries, "Entries"),
    FIELD(validate_only, "ValidateOnly"))

PARTITA_STRUCT(AlterClientQuotasResponse::EntityData,
    FIELD(entity_type, "EntityType"),
    FIELD(entity_name, "EntityName", nullable()))

PARTITA_STRUCT(AlterClientQuotasResponse::EntryData,
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(entity, "Entity"))

PARTITA_MESSAGE(AlterClientQuotasResponse, versions(0, 1), flexible_since(1),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(entries, "Entries"))

PARTITA_API(alter_client_quotas, AlterClientQuotas)
// clang-format on

}  // namespace partita
