// IncrementalAlterConfigs: v0-1 (KIP-339).
//
//   v1: flexible.

#include "broker/handlers/admin_replies.h"
#include "broker/handlers/registry.h"
#include "broker/runtime/broker.h"
#include "broker/runtime/turn.h"
#include "protocol/messages/44_incremental_alter_configs.h"

namespace partita::handlers {

void incremental_alter_configs(runtime::RequestContext& context) {
    const IncrementalAlterConfigsRequest* request = context.decode<IncrementalAlterConfigsRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    topics::IncrementalAlterConfigsCommand command;
    command.validate_only = request->validate_only;
    for (const IncrementalAlterConfigsRequest::AlterConfigsResource& resource : request->resources) {
        topics::ResourceToAlter& item = command.resources.emplace_back();
        item.resource = {static_cast<topics::ConfigResourceType>(resource.resource_type), resource.resource_name};
        for (const IncrementalAlterConfigsRequest::AlterableConfig& config : resource.configs) {
            item.changes.push_back(
                {.name = config.name, .operation = config.config_operation, .value = config.value});
        }
    }
    const auto reply = context.broker.change_catalog<topics::AlterConfigsReply>(
        context.turn, [&](const topics::CatalogCore& core, const topics::CatalogContext& catalog) {
            return core.incremental_alter_configs(command, catalog);
        });
    ArenaVector<IncrementalAlterConfigsResponse::AlterConfigsResourceResponse> results(arena,
                                                                                       request->resources.count());
    for (std::size_t i = 0; i < request->resources.count(); ++i) {
        IncrementalAlterConfigsResponse::AlterConfigsResourceResponse& result = results.emplace_back();
        result.resource_type = request->resources[i].resource_type;
        result.resource_name = request->resources[i].resource_name;
        result.error_code = reply ? reply->resources[i].error.code : ErrorCode::kafka_storage_error;
        result.error_message = reply ? message_of(reply->resources[i].error, arena) : kCatalogNotWritten;
    }
    IncrementalAlterConfigsResponse response;
    response.responses = results;
    context.reply(response);
}

}  // namespace partita::handlers
