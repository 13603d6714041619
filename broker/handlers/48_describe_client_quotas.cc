// DescribeClientQuotas: v0-1 (KIP-546).
//
//   v1: flexible.

#include "protocol/messages/48_describe_client_quotas.h"
#include "broker/handlers/admin_replies.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/client_quota_entities.h"
#include "broker/handlers/registry.h"
#include "broker/logs/turn.h"

namespace partita::handlers {

PARTITA_SERVES(describe_client_quotas, access::kDescribeClusterConfigs);

namespace {

using Entry = DescribeClientQuotasResponse::EntryData;

Entry entry_of(Arena& arena, const catalog::DescribedQuotas& quotas) {
    ArenaVector<DescribeClientQuotasResponse::ValueData> values(arena, quotas.values.size());
    for (const auto& [key, value] : quotas.values) {
        values.push_back({.key = arena.copy(key), .value = value});
    }
    return {.entity = entity_data<DescribeClientQuotasResponse::EntityData>(arena, quotas.entity), .values = values};
}

}  // namespace

void describe_client_quotas(runtime::RequestContext& context) {
    const DescribeClientQuotasRequest* request = context.decode<DescribeClientQuotasRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize_cluster(context, access::kDescribeClusterConfigs)) {
        DescribeClientQuotasResponse refused;
        refused.error_code = ErrorCode::cluster_authorization_failed;
        refused.error_message = std::nullopt;
        refused.entries = nullptr;
        context.reply(refused);
        return;
    }
    Arena& arena = context.arena();
    std::vector<catalog::QuotaFilterComponent> filter;
    for (const DescribeClientQuotasRequest::ComponentData& component : request->components) {
        filter.push_back({.entity_type = component.entity_type, .match_type = component.match_type, .match = component.match});
    }
    const auto described = catalog::describe_client_quotas(*context.turn.topics().catalog, filter, request->strict);
    DescribeClientQuotasResponse response;
    if (!described) {
        response.error_code = described.error().code;
        response.error_message = message_of(described.error(), arena);
        response.entries = nullptr;
        context.reply(response);
        return;
    }
    ArenaVector<Entry> entries(arena, described->size());
    for (const catalog::DescribedQuotas& quotas : *described) {
        entries.push_back(entry_of(arena, quotas));
    }
    response.entries = entries;
    context.reply(response);
}

}  // namespace partita::handlers
