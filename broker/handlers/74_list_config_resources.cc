// ListConfigResources: v0-1, flexible (KIP-1142).
//
//   v0: client metrics subscriptions only (it was ListClientMetricsResources); v1: any types.
//
// The reply always lists topics and the broker. It lists groups and subscriptions if they have configs of their own.

#include <algorithm>

#include "broker/catalog/commands.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/shown_nodes.h"
#include "broker/logs/turn.h"
#include "protocol/messages/74_list_config_resources.h"

namespace partita::handlers {

PARTITA_SERVES(list_config_resources, access::kDescribeClusterConfigs);

namespace {

using catalog::ConfigResourceType;
using Entry = ListConfigResourcesResponse::ConfigResource;

constexpr ConfigResourceType kListedTypes[] = {ConfigResourceType::topic, ConfigResourceType::broker,
                                               ConfigResourceType::broker_logger, ConfigResourceType::client_metrics,
                                               ConfigResourceType::group};

/// The requested types without duplicates. Empty if one of them cannot be listed.
std::vector<ConfigResourceType> wanted_types(const ListConfigResourcesRequest& request, std::int16_t version) {
    if (version == 0) {
        return {ConfigResourceType::client_metrics};
    }
    if (request.resource_types.count() == 0) {
        return {std::begin(kListedTypes), std::end(kListedTypes)};
    }
    std::vector<ConfigResourceType> types;
    for (const std::int8_t number : request.resource_types) {
        const auto type = static_cast<ConfigResourceType>(number);
        if (std::ranges::find(kListedTypes, type) == std::end(kListedTypes)) {
            return {};
        }
        if (std::ranges::find(types, type) == types.end()) {
            types.push_back(type);
        }
    }
    return types;
}

void add_resources(runtime::RequestContext& context, ConfigResourceType type, ArenaVector<Entry>& entries) {
    const catalog::CatalogSnapshot& catalog = *context.turn.topics().catalog;
    const auto add = [&](std::string_view name) {
        entries.push_back({.resource_name = name, .resource_type = static_cast<std::int8_t>(type)});
    };
    const auto add_names = [&](const catalog::CatalogSnapshot::ConfigsByName& resources) {
        for (const auto& [name, configs] : resources) {
            add(name);
        }
    };
    switch (type) {
        case ConfigResourceType::topic:
            for (const catalog::Topic& topic : catalog.topics()) {
                add(topic.name);
            }
            return;
        case ConfigResourceType::broker:
        case ConfigResourceType::broker_logger:
            add(context.arena().copy(std::to_string(asked_node(context).value)));
            return;
        case ConfigResourceType::client_metrics:
            add_names(catalog.all_client_metrics_configs());
            return;
        case ConfigResourceType::group:
            add_names(catalog.all_group_configs());
            return;
        case ConfigResourceType::client_quota:
        case ConfigResourceType::scram_credential:
        case ConfigResourceType::unknown:
            return;
    }
}

}  // namespace

void list_config_resources(runtime::RequestContext& context) {
    const ListConfigResourcesRequest* request = context.decode<ListConfigResourcesRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize_cluster(context, access::kDescribeClusterConfigs)) {
        ListConfigResourcesResponse refused;
        refused.error_code = ErrorCode::cluster_authorization_failed;
        context.reply(refused);
        return;
    }
    ListConfigResourcesResponse response;
    ArenaVector<Entry> entries(context.arena());
    const std::vector<ConfigResourceType> types = wanted_types(*request, context.version());
    if (types.empty()) {
        response.error_code = ErrorCode::unsupported_version;
    }
    for (const ConfigResourceType type : types) {
        add_resources(context, type, entries);
    }
    response.config_resources = entries;
    context.reply(response);
}

}  // namespace partita::handlers
