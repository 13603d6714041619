// DescribeConfigs: v1-4, for topics and brokers.
//
//   v1: sources and synonyms; v3: types and documentation; v4: flexible.

#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include "broker/config/current_config.h"
#include "broker/config/describe_configs.h"
#include "broker/config/mode_patterns.h"
#include "broker/handlers/config_resources.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/repeats.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/shown_nodes.h"
#include "broker/logs/turn.h"
#include "protocol/messages/32_describe_configs.h"

namespace partita::handlers {

PARTITA_SERVES(describe_configs, access::kDescribeClusterConfigs, access::kDescribeTopicConfigs, access::kDescribeGroupConfigs);

namespace {

using Request = DescribeConfigsRequest::DescribeConfigsResource;
using Result = DescribeConfigsResponse::DescribeConfigsResult;

std::optional<std::string_view> copy(Arena& arena, const std::optional<std::string>& text) {
    return text ? std::optional<std::string_view>(arena.copy(*text)) : std::nullopt;
}

void add_entries(Arena& arena, const std::vector<config::ConfigEntry>& entries, Result& result) {
    ArenaVector<DescribeConfigsResponse::DescribeConfigsResourceResult> configs(arena, entries.size());
    for (const config::ConfigEntry& entry : entries) {
        ArenaVector<DescribeConfigsResponse::DescribeConfigsSynonym> synonyms(arena, entry.synonyms.size());
        for (const config::SynonymEntry& synonym : entry.synonyms) {
            synonyms.push_back({.name = arena.copy(synonym.name),
                                .value = copy(arena, synonym.value),
                                .source = static_cast<std::int8_t>(synonym.source)});
        }
        configs.push_back({.name = arena.copy(entry.name),
                           .value = copy(arena, entry.value),
                           .read_only = entry.read_only,
                           .config_source = static_cast<std::int8_t>(entry.source),
                           .is_sensitive = entry.sensitive,
                           .synonyms = synonyms,
                           .config_type = static_cast<std::int8_t>(entry.type),
                           .documentation = copy(arena, entry.documentation)});
    }
    result.configs = configs;
}

void refuse(Result& result, ErrorCode code, std::string_view message) {
    result.error_code = code;
    result.error_message = message;
}

void describe_broker(runtime::RequestContext& context, const Request& resource, const config::DescribeOptions& options,
                     Result& result) {
    const auto config = context.services.config.get();
    if (resource.resource_name.empty()) {
        add_entries(context.arena(), config::describe_default_broker_configs(*config, options), result);
        return;
    }
    std::int32_t id = -1;
    const std::string_view name = resource.resource_name;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error != std::errc() || end != name.data() + name.size()) {
        refuse(result, ErrorCode::invalid_request,
               context.arena().copy("Broker id must be an integer, but it is: " + std::string(name)));
        return;
    }
    if (id != asked_node(context).value) {
        refuse(result, ErrorCode::invalid_request,
               context.arena().copy("Unexpected broker id, expected " + std::to_string(asked_node(context).value) +
                                    " or empty string, but received " + std::string(name)));
        return;
    }
    add_entries(context.arena(), config::describe_broker_configs(*config, options, context.services.description.places), result);
}

void describe_topic(runtime::RequestContext& context, const Request& resource, const config::DescribeOptions& options,
                    Result& result) {
    if (const auto problem = catalog::topic_name_problem(resource.resource_name)) {
        refuse(result, ErrorCode::invalid_topic_exception, context.arena().copy(*problem));
        return;
    }
    const catalog::Topic* topic = context.turn.topics().catalog->find_topic(resource.resource_name);
    if (topic == nullptr) {
        refuse(result, ErrorCode::unknown_topic_or_partition, "");
        return;
    }
    const auto config = context.services.config.get();
    add_entries(context.arena(),
                config::describe_topic_configs(config::with_mode_pattern(topic->configs, *config, topic->name), *config, options),
                result);
}

void describe_other(runtime::RequestContext& context, const Request& resource, const config::DescribeOptions& options,
                    Result& result) {
    const auto entries = describe_other_resource(
        context, {static_cast<catalog::ConfigResourceType>(resource.resource_type), resource.resource_name}, options);
    if (entries) {
        add_entries(context.arena(), *entries, result);
    } else {
        refuse(result, entries.error().code, context.arena().copy(entries.error().message));
    }
}

}  // namespace

void describe_configs(runtime::RequestContext& context) {
    const DescribeConfigsRequest* request = context.decode<DescribeConfigsRequest>();
    if (request == nullptr) {
        return;
    }
    ArenaVector<Result> results(context.arena(), request->resources.count());
    Repeats<std::pair<std::int8_t, std::string_view>> repeats;
    for (const Request& resource : request->resources) {
        if (!repeats.is_answered({resource.resource_type, resource.resource_name})) {
            continue;
        }
        Result& result = results.emplace_back();
        result.error_message = "";  // Empty instead of null, even on success.
        result.resource_type = resource.resource_type;
        result.resource_name = resource.resource_name;
        config::DescribeOptions options;
        options.include_synonyms = request->include_synonyms;
        options.include_documentation = request->include_documentation;
        if (!resource.configuration_keys.empty()) {
            options.names.emplace(resource.configuration_keys.begin(), resource.configuration_keys.end());
        }
        const catalog::ConfigResource asked{static_cast<catalog::ConfigResourceType>(resource.resource_type),
                                            resource.resource_name};
        if (const ErrorCode refused = refusal_of_configs(context, asked, access::Operation::describe_configs);
            refused != ErrorCode::none) {
            refuse(result, refused, error_message(refused));
            continue;
        }
        switch (asked.type) {
            case catalog::ConfigResourceType::topic:
                describe_topic(context, resource, options, result);
                break;
            case catalog::ConfigResourceType::broker:
                describe_broker(context, resource, options, result);
                break;
            case catalog::ConfigResourceType::group:
            case catalog::ConfigResourceType::client_metrics:
            case catalog::ConfigResourceType::broker_logger:
                describe_other(context, resource, options, result);
                break;
            case catalog::ConfigResourceType::unknown:
            case catalog::ConfigResourceType::client_quota:
            case catalog::ConfigResourceType::scram_credential:
            default:  // any number that a request names
                refuse(result, ErrorCode::invalid_request, error_message(ErrorCode::invalid_request));
        }
    }
    DescribeConfigsResponse response;
    response.results = results;
    context.reply(response);
}

}  // namespace partita::handlers
