// GET  /v1/topics/T/configs, /v1/broker/configs: every config with its value, the value's source, and its description
// POST /v1/topics/T/configs  {"set": {"retention.ms": "60000", "cleanup.policy": null}, "validate_only": false}
//                            null removes a value that was set

#include <array>
#include <nlohmann/json.hpp>

#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/json_body.h"
#include "broker/http/local_requests.h"
#include "broker/http/resources.h"
#include "broker/logs/placement.h"
#include "protocol/messages/32_describe_configs.h"
#include "protocol/messages/44_incremental_alter_configs.h"

namespace partita::http {
namespace {

using nlohmann::ordered_json;

// Kafka's codes for resource types, and for operations of IncrementalAlterConfigs.
constexpr std::int8_t kTopic = 2;
constexpr std::int8_t kBroker = 4;
constexpr std::int8_t kSet = 0;
constexpr std::int8_t kDelete = 1;

/// The source of a value: Kafka's ConfigSource in words.
constexpr std::array<std::string_view, 9> kSources = {"unknown",
                                                      "topic",
                                                      "broker, while it runs",
                                                      "cluster, while it runs",
                                                      "broker's file or command line",
                                                      "default",
                                                      "broker's logger",
                                                      "client's metrics",
                                                      "group"};
constexpr std::array<std::string_view, 10> kTypes = {"unknown", "boolean", "string", "int",   "short",
                                                     "long",    "double",  "list",   "class", "password"};

template <std::size_t kSize>
std::string_view name_in(const std::array<std::string_view, kSize>& names, std::int8_t code) {
    return code >= 0 && static_cast<std::size_t>(code) < kSize ? names[static_cast<std::size_t>(code)] : names[0];
}

ordered_json or_null(const std::optional<std::string_view>& text) { return text ? ordered_json(*text) : ordered_json(nullptr); }

ordered_json config_json(const DescribeConfigsResponse::DescribeConfigsResourceResult& config) {
    ordered_json object{{"name", config.name},
                        {"value", or_null(config.value)},
                        {"source", name_in(kSources, config.config_source)},
                        {"type", name_in(kTypes, config.config_type)},
                        {"read_only", config.read_only},
                        {"sensitive", config.is_sensitive},
                        {"documentation", or_null(config.documentation)}};
    // The values that would apply without the first one, each with its source; the default comes last.
    object["instead"] = ordered_json::array();
    for (std::size_t index = 1; index < config.synonyms.count(); ++index) {
        const auto& other = config.synonyms[index];
        object["instead"].push_back(
            {{"name", other.name}, {"value", or_null(other.value)}, {"source", name_in(kSources, other.source)}});
    }
    return object;
}

void describe(const Surroundings& surroundings, const ExchangePointer& exchange, std::int8_t type, std::string_view name) {
    DescribeConfigsRequest::DescribeConfigsResource resource{
        .resource_type = type, .resource_name = name, .configuration_keys = nullptr};
    const DescribeConfigsRequest request{.resources = {&resource, 1}, .include_synonyms = true, .include_documentation = true};
    surroundings.local_requests.ask<DescribeConfigsResponse>(
        exchange, request, [exchange, &identity = surroundings.identity](const DescribeConfigsResponse& reply) {
            const auto& result = reply.results[0];
            if (result.error_code != ErrorCode::none) {
                respond_kafka_error(*exchange, result.error_code, result.error_message.value_or(""));
                return;
            }
            ordered_json object = identity.begin_answer();
            object["configs"] = ordered_json::array();
            for (const auto& config : result.configs) {
                object["configs"].push_back(config_json(config));
            }
            respond_json(*exchange, object);
        });
}

}  // namespace

void serve_topic_configs(const Surroundings& surroundings, const ExchangePointer& exchange) {
    describe(surroundings, exchange, kTopic, exchange->request().path.at(2));
}

void serve_broker_configs(const Surroundings& surroundings, const ExchangePointer& exchange) {
    describe(surroundings, exchange, kBroker, std::to_string(surroundings.services.placement.own().value));
}

void change_topic_configs(const Surroundings& surroundings, const ExchangePointer& exchange) {
    JsonBody body(*exchange);
    const auto wanted = body.texts("set");
    const bool validate_only = body.flag("validate_only");
    if (wanted.empty()) {
        body.complain("the body has no \"set\"");
    }
    if (body.refuse_unless_good()) {
        return;
    }
    std::vector<IncrementalAlterConfigsRequest::AlterableConfig> changes;
    for (const auto& [name, value] : wanted) {
        changes.push_back({.name = name, .config_operation = value ? kSet : kDelete, .value = value});
    }
    IncrementalAlterConfigsRequest::AlterConfigsResource resource{
        .resource_type = kTopic, .resource_name = exchange->request().path.at(2), .configs = changes};
    const IncrementalAlterConfigsRequest request{.resources = {&resource, 1}, .validate_only = validate_only};
    surroundings.local_requests.ask<IncrementalAlterConfigsResponse>(
        exchange, request, [exchange, &identity = surroundings.identity](const IncrementalAlterConfigsResponse& reply) {
            const auto& result = reply.responses[0];
            if (result.error_code != ErrorCode::none) {
                respond_kafka_error(*exchange, result.error_code, result.error_message.value_or(""));
                return;
            }
            ordered_json object = identity.begin_answer();
            object["topic"] = result.resource_name;
            respond_json(*exchange, object);
        });
}

}  // namespace partita::http
