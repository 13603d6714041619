// GET /v1/requests   requests by API since the start; latencies of those that came while a viewer watched this page
// GET /v1/errors     the recent errors given to clients, each with its request; the newest first, at most `limit` of them
// GET /v1/quotas     the quotas of all clients, and the clients that had to wait because of one

#include <nlohmann/json.hpp>
#include <ranges>
#include <vector>

#include "broker/catalog/client_quotas.h"
#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/json_body.h"
#include "broker/http/parameters.h"
#include "broker/http/resources.h"
#include "broker/insight/findings/finding_json.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/clients/request_watch.h"
#include "schedule/clock.h"

namespace partita::http {
namespace {

using nlohmann::ordered_json;
using runtime::GivenError;

double milliseconds(std::int64_t duration_ns) { return static_cast<double>(duration_ns / 1000) / 1000.0; }

/// Names the subjects of an error: "TopicId" becomes "topic" with the topic's current name.
ordered_json about_json(const logs::TopicTable& table, const GivenError& error) {
    ordered_json object = ordered_json::object();
    for (const auto& [name, value] : error.about) {
        object[std::string(name)] = insight::name_text(value);
        Uuid id;
        if (name == "TopicId" && Uuid::parse(value, id)) {
            if (const logs::TopicState* topic = table.find(id)) {
                object["Topic"] = topic->topic->name;
            }
        }
    }
    return object;
}

ordered_json client_json(const GivenError::Client& client) {
    return {{"client_id", insight::name_text(client.client_id)},
            {"address", client.address},
            {"port", client.port},
            {"principal", insight::name_text(client.principal)},
            {"listener", client.listener},
            {"software", insight::name_text(client.software)},
            {"version", insight::name_text(client.software_version)}};
}

ordered_json error_json(const logs::TopicTable& table, const GivenError& error) {
    const bool is_closed = error.code == ErrorCode::none;
    ordered_json object{
        {"first_ms", error.first.value},
        {"last_ms", error.last.value},
        {"times", error.times},
        {"code", is_closed ? "CONNECTION_CLOSED" : std::string(error_name(error.code))},
        {"meaning", is_closed ? std::string("the broker closed the connection because of the data that it received")
                              : std::string(error_message(error.code))},
        {"message", insight::name_text(error.message)}};
    object["api"] = error.api.empty() ? ordered_json(nullptr) : ordered_json(error.api);
    object["version"] = error.api.empty() ? ordered_json(nullptr) : ordered_json(error.version);
    object["about"] = about_json(table, error);
    object["more_in_reply"] = error.more_in_reply;
    object["request"] = error.request.empty() ? ordered_json(nullptr) : ordered_json(insight::name_text(error.request));
    object["client"] = client_json(error.client);
    return object;
}

}  // namespace

void serve_requests(const Surroundings& surroundings, const ExchangePointer& exchange) {
    runtime::RequestWatch& watch = surroundings.services.requests;
    const Now now = surroundings.services.clock.now();
    watch.watch(now);
    ordered_json object = surroundings.identity.begin_answer();
    object["time_ms"] = now.wall.value;
    object["measured_since_ms"] = watch.watched_since().value;
    object["requests"] = ordered_json::array();
    for (const runtime::RequestWatch::ApiReport& report : watch.reports()) {
        ordered_json one{{"api", report.api->name},
                         {"key", static_cast<std::int16_t>(report.api->key)},
                         {"requests", report.requests},
                         {"with_errors", report.with_errors},
                         {"latency", nullptr}};
        if (report.latency) {
            one["latency"] = {{"measured", report.latency->count},
                              {"p50_ms", milliseconds(report.latency->p50_ns)},
                              {"p95_ms", milliseconds(report.latency->p95_ns)},
                              {"p99_ms", milliseconds(report.latency->p99_ns)},
                              {"max_ms", milliseconds(report.latency->most_ns)}};
        }
        object["requests"].push_back(std::move(one));
    }
    respond_json(*exchange, object);
}

void serve_errors(const Surroundings& surroundings, const ExchangePointer& exchange) {
    constexpr auto kMost = static_cast<std::int64_t>(runtime::ErrorRing::kKeptMax);
    const auto limit = number_parameter(exchange->request(), "limit", {.least = 1, .most = kMost});
    if (!limit) {
        respond_error(*exchange, Status::bad_request, limit.error());
        return;
    }
    const runtime::ErrorRing ring = surroundings.services.requests.errors();
    const auto table = surroundings.services.topics.table();
    ordered_json object = surroundings.identity.begin_answer();
    object["time_ms"] = surroundings.services.clock.now().wall.value;
    object["total"] = ring.total();
    object["errors"] = ordered_json::array();
    for (const GivenError& error : ring.errors() | std::views::reverse | std::views::take(limit->value_or(kMost))) {
        object["errors"].push_back(error_json(*table, error));
    }
    respond_json(*exchange, object);
}

void serve_quotas(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto table = surroundings.services.topics.table();
    ordered_json object = surroundings.identity.begin_answer();
    object["time_ms"] = surroundings.services.clock.now().wall.value;
    object["quotas"] = ordered_json::array();
    const auto described = catalog::describe_client_quotas(*table->catalog, {}, false);
    // An empty filter cannot be invalid.
    const std::vector<catalog::DescribedQuotas> everybody = described ? *described : std::vector<catalog::DescribedQuotas>();
    for (const catalog::DescribedQuotas& quotas : everybody) {
        ordered_json one{{"entity", ordered_json::object()}, {"limits", ordered_json::object()}};
        for (const auto& [type, name] : quotas.entity) {
            // Null stands for the default of the type.
            one["entity"][type] = name ? ordered_json(insight::name_text(*name)) : ordered_json(nullptr);
        }
        for (const auto& [name, value] : quotas.values) {
            one["limits"][name] = value;
        }
        object["quotas"].push_back(std::move(one));
    }
    object["throttled"] = ordered_json::array();
    for (const runtime::RequestWatch::Throttled& client : surroundings.services.requests.throttled() | std::views::reverse) {
        object["throttled"].push_back({{"client_id", insight::name_text(client.client_id)},
                                       {"principal", insight::name_text(client.principal)},
                                       {"address", client.address},
                                       {"times", client.times},
                                       {"total_ms", client.total_ms},
                                       {"last_ms", client.last_ms},
                                       {"time_ms", client.last.value}});
    }
    respond_json(*exchange, object);
}

}  // namespace partita::http
