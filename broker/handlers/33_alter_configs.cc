// AlterConfigs: v0-2, the old API, which replaces all overrides of a resource.
//
//   v2: flexible.

#include "protocol/messages/33_alter_configs.h"
#include "broker/handlers/admin_replies.h"
#include "broker/handlers/config_resources.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/catalog.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(alter_configs, catalog, access::kAlterClusterConfigs, access::kAlterTopicConfigs, access::kAlterGroupConfigs);

void alter_configs(runtime::RequestContext& context, runtime::Catalog& catalog) {
    const AlterConfigsRequest* request = context.decode<AlterConfigsRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    catalog::AlterConfigs command;
    command.validate_only = request->validate_only;
    std::vector<catalog::CatalogError> refused;
    for (const AlterConfigsRequest::AlterConfigsResource& resource : request->resources) {
        const catalog::ConfigResource named{static_cast<catalog::ConfigResourceType>(resource.resource_type),
                                            resource.resource_name};
        catalog::CatalogError& error = refused.emplace_back();
        error.code = refusal_of_configs(context, named, access::Operation::alter_configs);
        if (error.failed()) {
            error.message = error_message(error.code);
            continue;
        }
        catalog::ResourceToReplace item{.resource = named, .configs = {}};
        for (const AlterConfigsRequest::AlterableConfig& config : resource.configs) {
            item.configs.push_back({.name = config.name, .value = config.value});
        }
        error = objection_of_listeners(context, item);
        if (!error.failed()) {
            command.resources.push_back(std::move(item));
        }
    }
    const auto reply = catalog.change(context.turn, command);
    ArenaVector<AlterConfigsResponse::AlterConfigsResourceResponse> results(arena, request->resources.count());
    std::size_t decided = 0;
    for (std::size_t i = 0; i < request->resources.count(); ++i) {
        AlterConfigsResponse::AlterConfigsResourceResponse& result = results.emplace_back();
        result.resource_type = request->resources[i].resource_type;
        result.resource_name = request->resources[i].resource_name;
        if (refused[i].failed()) {
            result.error_code = refused[i].code;
            result.error_message = message_of(refused[i], arena);
        } else if (reply) {
            const catalog::CatalogError& error = reply->resources[decided++].error;
            result.error_code = error.code;
            result.error_message = message_of(error, arena);
        } else {
            result.error_code = ErrorCode::kafka_storage_error;
            result.error_message = kCatalogNotWritten;
        }
    }
    AlterConfigsResponse response;
    response.responses = results;
    context.reply(response);
}

}  // namespace partita::handlers
