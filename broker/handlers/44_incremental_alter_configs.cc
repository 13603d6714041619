// IncrementalAlterConfigs: v0-1 (KIP-339).
//
//   v1: flexible.

#include <algorithm>
#include <iterator>
#include <map>

#include "broker/handlers/admin_replies.h"
#include "broker/handlers/config_resources.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/catalog.h"
#include "protocol/messages/44_incremental_alter_configs.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(incremental_alter_configs, catalog, access::kAlterClusterConfigs, access::kAlterTopicConfigs,
                    access::kAlterGroupConfigs);

namespace {

bool is_logger(std::int8_t resource_type) {
    return static_cast<catalog::ConfigResourceType>(resource_type) == catalog::ConfigResourceType::broker_logger;
}

/// Removes the loggers from the command and alters them. Returns one result for each, in order.
std::vector<catalog::CatalogError> alter_loggers(runtime::RequestContext& context, catalog::IncrementalAlterConfigs& command) {
    const auto is_for_loggers = [](const catalog::ResourceToAlter& item) {
        return item.resource.type == catalog::ConfigResourceType::broker_logger;
    };
    std::vector<catalog::ResourceToAlter> resources;
    std::ranges::copy_if(command.resources, std::back_inserter(resources), is_for_loggers);
    std::erase_if(command.resources, is_for_loggers);
    std::map<std::string_view, std::size_t> occurrences;
    for (const catalog::ResourceToAlter& item : resources) {
        ++occurrences[item.resource.name];
    }
    std::vector<catalog::CatalogError> errors;
    for (const catalog::ResourceToAlter& item : resources) {
        errors.push_back(occurrences[item.resource.name] > 1
                             ? catalog::CatalogError{ErrorCode::invalid_request, "Each resource must appear at most once."}
                             : alter_broker_loggers(context, item, command.validate_only));
    }
    return errors;
}

}  // namespace

void incremental_alter_configs(runtime::RequestContext& context, runtime::Catalog& catalog) {
    const IncrementalAlterConfigsRequest* request = context.decode<IncrementalAlterConfigsRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    catalog::IncrementalAlterConfigs command;
    command.validate_only = request->validate_only;
    std::vector<catalog::CatalogError> refused;
    for (const IncrementalAlterConfigsRequest::AlterConfigsResource& resource : request->resources) {
        const catalog::ConfigResource named{static_cast<catalog::ConfigResourceType>(resource.resource_type),
                                            resource.resource_name};
        catalog::CatalogError& error = refused.emplace_back();
        error.code = refusal_of_configs(context, named, access::Operation::alter_configs);
        if (error.failed()) {
            // In Kafka the broker itself refuses changes of loggers, and sends no text.
            if (!is_logger(resource.resource_type)) {
                error.message = error_message(error.code);
            }
            continue;
        }
        catalog::ResourceToAlter item{.resource = named, .changes = {}};
        for (const IncrementalAlterConfigsRequest::AlterableConfig& config : resource.configs) {
            item.changes.push_back({.name = config.name, .operation = config.config_operation, .value = config.value});
        }
        error = objection_of_listeners(context, item);
        if (!error.failed()) {
            command.resources.push_back(std::move(item));
        }
    }
    const std::vector<catalog::CatalogError> loggers = alter_loggers(context, command);
    const auto reply = catalog.change(context.turn, command);
    ArenaVector<IncrementalAlterConfigsResponse::AlterConfigsResourceResponse> results(arena, request->resources.count());
    std::size_t of_catalog = 0;
    std::size_t of_loggers = 0;
    for (const IncrementalAlterConfigsRequest::AlterConfigsResource& resource : request->resources) {
        IncrementalAlterConfigsResponse::AlterConfigsResourceResponse& result = results.emplace_back();
        result.resource_type = resource.resource_type;
        result.resource_name = resource.resource_name;
        if (const catalog::CatalogError& error = refused[results.size() - 1]; error.failed()) {
            result.error_code = error.code;
            result.error_message = message_of(error, arena);
        } else if (is_logger(resource.resource_type)) {
            const catalog::CatalogError& error = loggers[of_loggers++];
            result.error_code = error.code;
            result.error_message = message_of(error, arena);
        } else if (reply) {
            const catalog::CatalogError& error = reply->resources[of_catalog++].error;
            result.error_code = error.code;
            result.error_message = message_of(error, arena);
        } else {
            result.error_code = ErrorCode::kafka_storage_error;
            result.error_message = kCatalogNotWritten;
        }
    }
    IncrementalAlterConfigsResponse response;
    response.responses = results;
    context.reply(response);
}

}  // namespace partita::handlers
