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
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/partitions/turn.h"

namespace partita::handlers {
namespace {

topics::QuotaAlteration alteration_of(const AlterClientQuotasRequest::EntryData& entry) {
    topics::QuotaAlteration alteration;
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

/// Every entity is refused with the same error.
void refuse(runtime::RequestContext& context, const topics::AlterClientQuotasCommand& command, ErrorCode error) {
    Arena& arena = context.arena();
    ArenaVector<AlterClientQuotasResponse::EntryData> entries(arena, command.alterations.size());
    for (const topics::QuotaAlteration& alteration : command.alterations) {
        entries.push_back({.error_code = error,
                           .error_message = error_message(error),
                           .entity = entity_data<AlterClientQuotasResponse::EntityData>(arena, alteration.entity)});
    }
    AlterClientQuotasResponse response;
    response.entries = entries;
    context.reply(response);
}

}  // namespace

void alter_client_quotas(runtime::RequestContext& context) {
    const AlterClientQuotasRequest* request = context.decode<AlterClientQuotasRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    topics::AlterClientQuotasCommand command;
    command.validate_only = request->validate_only;
    for (const AlterClientQuotasRequest::EntryData& entry : request->entries) {
        command.alterations.push_back(alteration_of(entry));
    }
    if (!authorize_cluster(context, access::kAlterClusterConfigs)) {
        return refuse(context, command, ErrorCode::cluster_authorization_failed);
    }
    topics::AlterClientQuotasReply decided;
    const auto reply = context.services.catalog.change<topics::AlterClientQuotasReply>(
        context.turn, [&](const topics::CatalogCore& core, const topics::CatalogContext&) {
            auto decision = topics::alter_client_quotas(core.snapshot(), command);
            decided = decision.reply;
            return decision;
        });
    ArenaVector<AlterClientQuotasResponse::EntryData> entries(arena, decided.entities.size());
    for (const topics::AlteredQuotas& altered : decided.entities) {
        entries.push_back({.error_code = reply ? altered.error.code : ErrorCode::kafka_storage_error,
                           .error_message = reply ? message_of(altered.error, arena) : kCatalogNotWritten,
                           .entity = entity_data<AlterClientQuotasResponse::EntityData>(arena, altered.entity)});
    }
    AlterClientQuotasResponse response;
    response.entries = entries;
    context.reply(response);
}

}  // namespace partita::handlers
