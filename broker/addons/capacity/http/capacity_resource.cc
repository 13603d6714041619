// GET /v1/capacity                  the units, the traffic that they allow, and the waits and changes so far
// PUT /v1/capacity  {"units": 2}    sets the units, also for the next start; "units_max" beside it for auto-inflate
//
// The numbers are configs of the broker (partita.capacity.units, partita.capacity.units.max), which kafka-configs changes as
// well.

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "broker/addons/capacity/http/resources.h"
#include "broker/addons/capacity/shell/shared_capacity.h"
#include "broker/config/config_definition.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/json_body.h"
#include "broker/http/kafka_errors.h"
#include "broker/http/local_requests.h"
#include "broker/logs/placement.h"
#include "broker/logs/turns.h"
#include "protocol/messages/44_incremental_alter_configs.h"

namespace partita::capacity {
namespace {

using http::Exchange;
using http::ExchangePointer;
using http::JsonBody;
using http::respond_json;
using http::respond_kafka_error;
using http::Surroundings;
using nlohmann::ordered_json;

// Kafka's codes of a resource, and of an operation of IncrementalAlterConfigs.
constexpr std::int8_t kBrokerResource = 4;
constexpr std::int8_t kSetValue = 0;

ordered_json or_unlimited(std::int64_t amount) { return amount == 0 ? ordered_json(nullptr) : ordered_json(amount); }

ordered_json load_json(Load load) { return {{"bytes", or_unlimited(load.bytes)}, {"events", or_unlimited(load.events)}}; }

ordered_json flow_json(Load unit, std::int32_t units, std::int64_t wait_ms) {
    return {{"per_unit", load_json(unit)},
            {"per_second", load_json({unit.bytes * units, unit.events * units})},
            {"wait_ms", wait_ms}};
}

ordered_json counts_json(const TrafficCounts::Counts& counts) {
    return {{"incoming_requests", counts.requests},
            {"successful_requests", counts.successful_requests},
            {"throttled_requests", counts.throttled_requests},
            {"server_errors", counts.server_errors},
            {"user_errors", counts.user_errors},
            {"incoming_messages", counts.incoming.messages},
            {"incoming_bytes", counts.incoming.bytes},
            {"outgoing_messages", counts.outgoing.messages},
            {"outgoing_bytes", counts.outgoing.bytes}};
}

std::int64_t units_most() {
    const config::ConfigDefinition* definition = config::find_broker_config(kUnitsConfig);
    return static_cast<std::int64_t>(definition->validator.maximum.value());
}

void respond_capacity(const Surroundings& surroundings, Exchange& exchange) {
    SharedCapacity& capacity = surroundings.services.extensions.parts.get<SharedCapacity>();
    const auto status = capacity.status(surroundings.services.turns.first().now());
    const CapacitySettings& settings = status.settings;
    ordered_json object = surroundings.identity.begin_answer();
    object["units"] = or_unlimited(settings.units);
    object["units_max"] = or_unlimited(settings.inflate.units_max);
    object["inflate_after_ms"] = settings.inflate.after_ms;
    object["ingress"] = flow_json(settings.ingress, settings.units, status.ingress_wait_ms);
    object["egress"] = flow_json(settings.egress, settings.units, status.egress_wait_ms);
    object["commits_per_partition_and_second"] = or_unlimited(settings.commits_per_second);
    object["counts"] = counts_json(capacity.counts().all());
    object["steps"] = ordered_json::array();
    for (const SharedCapacity::Step& step : status.steps) {
        object["steps"].push_back({{"time_ms", step.time.value},
                                   {"units_before", or_unlimited(step.units_before)},
                                   {"units", or_unlimited(step.units)},
                                   {"automatic", step.is_automatic}});
    }
    respond_json(exchange, object);
}

}  // namespace

void serve_capacity(const Surroundings& surroundings, const ExchangePointer& exchange) {
    respond_capacity(surroundings, *exchange);
}

void set_capacity(const Surroundings& surroundings, const ExchangePointer& exchange) {
    JsonBody body(*exchange);
    const auto units = body.number("units", {.least = 1, .most = units_most()});
    const auto units_max = body.number("units_max", {.least = 0, .most = units_most()});
    if (!units && !units_max) {
        body.complain("the body has neither \"units\" nor \"units_max\"");
    }
    if (units && units_max && *units_max != 0 && *units_max < *units) {
        body.complain("units_max must be 0 (no automatic units) or at least units");
    }
    if (body.refuse_unless_good()) {
        return;
    }
    const std::string units_text = std::to_string(units.value_or(0));
    const std::string units_max_text = std::to_string(units_max.value_or(0));
    std::vector<IncrementalAlterConfigsRequest::AlterableConfig> changes;
    if (units) {
        changes.push_back({.name = kUnitsConfig, .config_operation = kSetValue, .value = units_text});
    }
    if (units_max) {
        changes.push_back({.name = kUnitsMaxConfig, .config_operation = kSetValue, .value = units_max_text});
    }
    // The configs of this broker, which override those of the cluster.
    const std::string broker = std::to_string(surroundings.services.placement.own().value);
    IncrementalAlterConfigsRequest::AlterConfigsResource resource{
        .resource_type = kBrokerResource, .resource_name = broker, .configs = changes};
    const IncrementalAlterConfigsRequest request{.resources = {&resource, 1}};
    surroundings.local_requests.ask<IncrementalAlterConfigsResponse>(
        exchange, request, [exchange, surroundings](const IncrementalAlterConfigsResponse& reply) {
            const auto& result = reply.responses[0];
            if (result.error_code != ErrorCode::none) {
                respond_kafka_error(*exchange, result.error_code, result.error_message.value_or(""));
                return;
            }
            respond_capacity(surroundings, *exchange);
        });
}

}  // namespace partita::capacity
