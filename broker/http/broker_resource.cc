// GET /v1/broker: the broker's identity and load. GET /v1/connections: its producers and consumers.

#include <nlohmann/json.hpp>

#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/metrics.h"
#include "broker/http/parameters.h"
#include "broker/http/resources.h"
#include "broker/insight/findings/finding_json.h"
#include "broker/logs/placement.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/clients/request_watch.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/loop/counters.h"
#include "broker/runtime/loop/network_statistics.h"
#include "schedule/clock.h"

namespace partita::http {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t kConnectionsShownMax = 1000;

ordered_json connection_json(const insight::ConnectionFacts& connection) {
    const bool has_address = connection.address.starts_with('/');
    return {{"client_id", insight::name_text(connection.client_id)},
            {"address", connection.address.substr(has_address ? 1 : 0)},
            {"port", connection.port},
            {"software", insight::name_text(connection.software_name)},
            {"version", insight::name_text(connection.software_version)},
            {"principal",
             connection.principal.empty() ? ordered_json(nullptr) : ordered_json(insight::name_text(connection.principal))},
            {"since_ms", connection.born.value},
            {"program",
             connection.process ? ordered_json(insight::name_text(to_string(*connection.process))) : ordered_json(nullptr)}};
}

}  // namespace

void serve_broker(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const runtime::Services& services = surroundings.services;
    const runtime::Counters& counters = services.upkeep.counters;
    const auto load = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
    const auto table = services.topics.table();
    ordered_json object = surroundings.identity.begin_answer();
    object["version"] = PARTITA_VERSION;
    object["time_ms"] = services.clock.now().wall.value;
    object["test_bench"] = services.clock.movable() != nullptr;
    object["brokers"] = services.placement.registered().size();
    object["topics"] = table->catalog->topic_count();
    object["partitions"] = table->catalog->partition_count();
    object["groups"] = services.coordinators.groups.group_count();
    object["connections"] = surroundings.network.connection_count();
    object["resident_bytes"] = resident_bytes();
    object["since_start"] = {{"requests", services.requests.requests()},
                             {"records_in", load(counters.produced_records)},
                             {"bytes_in", load(counters.produced_bytes)},
                             {"bytes_out", load(counters.fetched_bytes)},
                             {"refused_produces", load(counters.failed_produces)},
                             {"refused_fetches", load(counters.failed_fetches)},
                             {"connections_closed_for_bad_input", load(counters.closed_for_bad_input)}};
    exchange->respond(Status::ok, kJson, object.dump() + "\n");
}

void serve_connections(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto limit = number_parameter(exchange->request(), "limit", {.least = 1, .most = kConnectionsShownMax});
    if (!limit) {
        respond_error(*exchange, Status::bad_request, limit.error());
        return;
    }
    const runtime::Connections& connections = surroundings.services.connections;
    ordered_json object = surroundings.identity.begin_answer();
    object["total"] = connections.size();
    object["connections"] = ordered_json::array();
    for (const insight::ConnectionFacts& facts :
         connections.first(static_cast<std::size_t>(limit->value_or(kConnectionsShownMax)))) {
        object["connections"].push_back(connection_json(facts));
    }
    exchange->respond(Status::ok, kJson, object.dump() + "\n");
}

}  // namespace partita::http
