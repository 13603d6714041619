// AlterClientQuotas: v0-1 (KIP-546).
//
//   v1: flexible.

#include "protocol/messages/49_alter_client_quotas.h"
#include "broker/handlers/admin_replies.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/client_quota_entities.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/catalog.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(alter_client_quotas, catalog, access::kAlterClusterConfigs);

namespace {

catalog::QuotaAlteration alteration_of(const AlterClientQuotasRequest::EntryData& entry) {
    catalog::QuotaAlteration alteration;
    for (const AlterClientQuotasRequest::EntityData& entity : entry.entity) {
        alteration.entity.insert_or_assign(std::string(entity.entity_type),
                                           entity.entity_name ? std::optional<std::string>(*entity.entity_name) : std::nullopt);
    }
    for (const AlterClientQuotasRequest::OpData& operation : entry.ops) {
        alteration.operations.push_back(
            {.key = operation.key, .value = operation.remove ? std::nullopt : std::optional<double>(operation.value)});
    }
    return alteration;
}

/// Refuses every entity with the same error.
void refuse(runtime::RequestContext& context, const catalog::AlterClientQuotas& command, ErrorCode error) {
    Arena& arena = context.arena();
    ArenaVector<AlterClientQuotasResponse::EntryData> entries(arena, command.alterations.size());
    for (const catalog::QuotaAlteration& alteration : command.alterations) {
        entries.push_back({.error_code = error,
                           .error_message = error_message(error),
                           .entity = entity_data<AlterClientQuotasResponse::EntityData>(arena, alteration.entity)});
    }
    AlterClientQuotasResponse response;
    response.entries = entries;
    context.reply(response);
}

}  // namespace

void alter_client_quotas(runtime::RequestContext& context, runtime::Catalog& catalog) {
    const AlterClientQuotasRequest* request = context.decode<AlterClientQuotasRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    catalog::AlterClientQuotas command;
    command.validate_only = request->validate_only;
    for (const AlterClientQuotasRequest::EntryData& entry : request->entries) {
        command.alterations.push_back(alteration_of(entry));
    }
    if (!authorize_cluster(context, access::kAlterClusterConfigs)) {
        return refuse(context, command, ErrorCode::cluster_authorization_failed);
    }
    catalog::AlterClientQuotasResult decided;
    const bool is_written = catalog.change(context.turn, command, decided);
    ArenaVector<AlterClientQuotasResponse::EntryData> entries(arena, decided.entities.size());
    for (const catalog::AlteredQuotas& altered : decided.entities) {
        entries.push_back({.error_code = is_written ? altered.error.code : ErrorCode::kafka_storage_error,
                           .error_message = is_written ? message_of(altered.error, arena) : kCatalogNotWritten,
                           .entity = entity_data<AlterClientQuotasResponse::EntityData>(arena, altered.entity)});
    }
    AlterClientQuotasResponse response;
    response.entries = entries;
    context.reply(response);
}

}  // namespace partita::handlers
