#include "broker/handlers/config_resources.h"

#include <charconv>
#include <set>

#include "broker/catalog/altered_configs.h"
#include "broker/config/broker_loggers.h"
#include "broker/config/client_metrics_config.h"
#include "broker/config/current_config.h"
#include "broker/config/dynamic_rules.h"
#include "broker/config/group_config.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/shown_nodes.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/config_rules.h"

namespace partita::handlers {
namespace {

using catalog::ConfigResourceType;

std::optional<std::int32_t> parse_id(std::string_view text) {
    std::int32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(id) : std::nullopt;
}

config::ConfigError invalid_request(std::string message) { return {ErrorCode::invalid_request, std::move(message)}; }

/// DescribeConfigs words the same errors differently from AlterConfigs.
std::optional<config::ConfigError> problem_of_described_broker(std::string_view name, BrokerId node) {
    const std::string text(name);
    if (name.empty()) {
        return invalid_request("Broker id must not be empty");
    }
    const auto id = parse_id(name);
    if (!id) {
        return invalid_request("Broker id must be an integer, but it is: " + text);
    }
    if (*id != node.value) {
        return invalid_request("Unexpected broker id, expected " + std::to_string(node.value) + " but received " + text);
    }
    return std::nullopt;
}

catalog::CatalogError problem_of_altered_broker(std::string_view name, BrokerId node) {
    const auto id = parse_id(name);
    if (!id) {
        return {ErrorCode::invalid_request, "Node id must be an integer, but it is: " + std::string(name)};
    }
    if (*id != node.value) {
        return {ErrorCode::invalid_request,
                "Unexpected node id. Expected " + std::to_string(node.value) + ", but received " + std::string(name)};
    }
    return {};
}

catalog::CatalogError problem_of_form(const catalog::ResourceToAlter& resource) {
    std::set<std::string_view> names;
    std::string nulls;
    for (const catalog::ConfigChange& change : resource.changes) {
        if (!names.insert(change.name).second) {
            return {ErrorCode::invalid_request, "Error due to duplicate config keys"};
        }
        if (!change.value && change.operation != static_cast<std::int8_t>(catalog::AlterOperation::remove)) {
            nulls += (nulls.empty() ? "" : ", ") + std::string(change.name);
        }
    }
    if (!nulls.empty()) {
        return {ErrorCode::invalid_request, "Null value not supported for : " + nulls};
    }
    return {};
}

/// The error if a listener rejects `dynamic` in place of the dynamic configs in force.
catalog::CatalogError objection_to(const config::CurrentConfig& current, config::DynamicBrokerConfigs dynamic) {
    const auto before = current.get();
    // The catalog reports invalid settings itself.
    if (!config::validate_broker_configs(*before, config::BrokerScope::this_broker, dynamic.this_broker)) {
        return {};
    }
    const auto after = before->with_dynamic(std::move(dynamic));
    if (!after) {
        return {};
    }
    const auto objection = current.objection_to(*after);
    return objection ? catalog::CatalogError{objection->code, objection->message} : catalog::CatalogError{};
}

bool is_of_listeners(const catalog::ConfigResource& resource, BrokerId node) {
    return resource.type == ConfigResourceType::broker && parse_id(resource.name) == node.value;
}

}  // namespace

catalog::CatalogError objection_of_listeners(runtime::RequestContext& context, const catalog::ResourceToAlter& resource) {
    if (!is_of_listeners(resource.resource, asked_node(context))) {
        return {};
    }
    // The catalog reports errors in the request itself.
    if (problem_of_form(resource).failed()) {
        return {};
    }
    config::DynamicBrokerConfigs dynamic = context.services.config->dynamic();
    const runtime::DefinedConfigRules rules([&] { return context.services.config.get(); });
    auto altered = catalog::altered_configs(resource, dynamic.this_broker, rules);
    if (!altered) {
        return {};
    }
    dynamic.this_broker = std::move(*altered);
    return objection_to(context.services.config, std::move(dynamic));
}

catalog::CatalogError objection_of_listeners(runtime::RequestContext& context, const catalog::ResourceToReplace& resource) {
    if (!is_of_listeners(resource.resource, asked_node(context))) {
        return {};
    }
    config::DynamicBrokerConfigs dynamic = context.services.config->dynamic();
    dynamic.this_broker.clear();
    for (const catalog::NamedConfig& config : resource.configs) {
        if (config.value) {
            dynamic.this_broker.insert_or_assign(std::string(config.name), std::string(*config.value));
        }
    }
    return objection_to(context.services.config, std::move(dynamic));
}

std::expected<std::vector<config::ConfigEntry>, config::ConfigError> describe_other_resource(
    runtime::RequestContext& context, const catalog::ConfigResource& resource, const config::DescribeOptions& options) {
    const catalog::CatalogSnapshot& catalog = *context.turn.topics().catalog;
    switch (resource.type) {
        case ConfigResourceType::client_metrics:
            if (resource.name.empty()) {
                return std::unexpected(invalid_request("Client metrics subscription name must not be empty"));
            }
            return config::describe_client_metrics_configs(catalog.client_metrics_configs(resource.name), options);
        case ConfigResourceType::group:
            if (resource.name.empty()) {
                return std::unexpected(invalid_request("Group name must not be empty"));
            }
            return config::describe_group_configs(catalog.group_configs(resource.name), *context.services.config.get(), options);
        case ConfigResourceType::broker_logger:
            if (auto problem = problem_of_described_broker(resource.name, asked_node(context))) {
                return std::unexpected(std::move(*problem));
            }
            return config::broker_loggers().describe(options);
        case ConfigResourceType::topic:
        case ConfigResourceType::broker:
        case ConfigResourceType::client_quota:
        case ConfigResourceType::scram_credential:
        case ConfigResourceType::unknown:
            break;
    }
    return std::unexpected(invalid_request(std::string(error_message(ErrorCode::invalid_request))));
}

ErrorCode refusal_of_configs(const runtime::RequestContext& context, const catalog::ConfigResource& resource,
                             access::Operation operation) {
    const auto judge = [&](access::ResourceType type, std::string_view name) {
        return authorize(context, access::Permission{operation, type}, name) ? ErrorCode::none : access::refusal(type);
    };
    switch (resource.type) {
        case ConfigResourceType::topic:
            return judge(access::ResourceType::topic, resource.name);
        case ConfigResourceType::group:
            return judge(access::ResourceType::group, resource.name);
        case ConfigResourceType::broker:
        case ConfigResourceType::broker_logger:
        case ConfigResourceType::client_metrics:
            return judge(access::ResourceType::cluster, access::kClusterName);
        case ConfigResourceType::client_quota:
        case ConfigResourceType::scram_credential:
        case ConfigResourceType::unknown:
            break;
    }
    return ErrorCode::none;
}

catalog::CatalogError alter_broker_loggers(runtime::RequestContext& context, const catalog::ResourceToAlter& resource,
                                           bool validate_only) {
    if (catalog::CatalogError problem = problem_of_form(resource); problem.failed()) {
        return problem;
    }
    if (catalog::CatalogError problem = problem_of_altered_broker(resource.resource.name, asked_node(context));
        problem.failed()) {
        return problem;
    }
    std::vector<config::ConfigChange> changes;
    for (const catalog::ConfigChange& change : resource.changes) {
        if (change.operation < 0 || change.operation > static_cast<std::int8_t>(catalog::AlterOperation::subtract)) {
            return {ErrorCode::unknown_server_error, std::nullopt};
        }
        changes.push_back({.name = std::string(change.name),
                           .operation = static_cast<config::AlterOperation>(change.operation),
                           .value = change.value ? std::optional<std::string>(*change.value) : std::nullopt});
    }
    if (auto altered = config::broker_loggers().alter(changes, validate_only); !altered) {
        return {altered.error().code, altered.error().message};
    }
    return {};
}

}  // namespace partita::handlers
