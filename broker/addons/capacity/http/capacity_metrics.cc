// GET /metrics: a managed event service's metrics, while the broker has units of capacity.

#include "broker/addons/capacity/http/resources.h"

#include <map>
#include <string>

#include "broker/addons/capacity/core/traffic_counts.h"
#include "broker/addons/capacity/shell/shared_capacity.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/services.h"
#include "broker/http/metrics_text.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/loop/network_statistics.h"
#include "broker/runtime/queries/topic_sizes.h"
#include "schedule/clock.h"

namespace partita::capacity {
namespace {

std::string entity_label(std::string_view topic, bool with_names) {
    return "entity=\"" + std::string(with_names ? topic : std::string_view()) + "\"";
}

/// Metrics with the names and the arithmetic of a managed event service: a batch of a hundred records is one request and a
/// hundred messages. The entity is the topic; requests for topics without counts of their own have an empty entity. A caller that
/// may not see names gets one entity for all topics.
void add_service(http::MetricsText& text, const SharedCapacity::Status& capacity, const TrafficCounts& traffic,
                 const runtime::ConnectionCounts& connections, bool with_names) {
    using Counts = TrafficCounts::Counts;
    struct Metric {
        std::string_view name;
        std::string_view help;
        std::uint64_t (*value)(const Counts&);
    };
    static constexpr Metric kMetrics[] = {
        {"partita_service_incoming_requests_total", "Requests that send or read events.",
         [](const Counts& counts) { return counts.requests; }},
        {"partita_service_successful_requests_total", "Requests that succeeded, throttled or not.",
         [](const Counts& counts) { return counts.successful_requests; }},
        {"partita_service_throttled_requests_total", "Requests that were refused or got nothing for lack of capacity.",
         [](const Counts& counts) { return counts.throttled_requests; }},
        {"partita_service_server_errors_total", "Requests that failed because of the broker.",
         [](const Counts& counts) { return counts.server_errors; }},
        {"partita_service_user_errors_total", "Requests that failed because of the client.",
         [](const Counts& counts) { return counts.user_errors; }},
        {"partita_service_incoming_messages_total", "Events that were sent.",
         [](const Counts& counts) { return counts.incoming.messages; }},
        {"partita_service_incoming_bytes_total", "Bytes of the events that were sent.",
         [](const Counts& counts) { return counts.incoming.bytes; }},
        {"partita_service_outgoing_messages_total", "Events that were read.",
         [](const Counts& counts) { return counts.outgoing.messages; }},
        {"partita_service_outgoing_bytes_total", "Bytes of the events that were read.",
         [](const Counts& counts) { return counts.outgoing.bytes; }},
    };
    const Counts others = traffic.others();
    for (const Metric& metric : kMetrics) {
        std::map<std::string, std::uint64_t> values = {{"entity=\"\"", metric.value(others)}};
        for (const auto& [entity, counts] : traffic.entities()) {
            values[entity_label(entity, with_names)] += metric.value(counts);
        }
        text.counters(metric.name, metric.help, values);
    }
    text.gauge("partita_service_active_connections", "Open client connections.", connections.opened - connections.closed);
    text.counter("partita_service_connections_opened_total", "Client connections that were opened.", connections.opened);
    text.counter("partita_service_connections_closed_total", "Client connections that were closed.", connections.closed);
    text.gauge("partita_capacity_units", "Units of capacity that all topics share.",
               static_cast<std::uint64_t>(capacity.settings.units));
    text.gauge("partita_capacity_ingress_wait_milliseconds", "Wait of a client that sends one small record now.",
               static_cast<std::uint64_t>(capacity.ingress_wait_ms));
    text.gauge("partita_capacity_egress_wait_milliseconds", "Wait of a client that reads one small record now.",
               static_cast<std::uint64_t>(capacity.egress_wait_ms));
}

/// Bytes of clients' topics, for the first kEntitiesMax topics by name.
std::map<std::string, std::uint64_t> size_by_entity(const logs::TopicTable& table, bool with_names) {
    std::map<std::string, std::uint64_t> sizes;
    std::size_t count = 0;
    for (const catalog::Topic& topic : table.catalog->topics()) {
        if (count == TrafficCounts::kEntitiesMax) {
            break;
        }
        if (!topic.internal) {
            ++count;
            sizes[entity_label(topic.name, with_names)] += runtime::topic_size(*table.find(topic.id)).bytes();
        }
    }
    return sizes;
}

}  // namespace

void add_metrics(http::MetricsText& text, const runtime::Services& services, const runtime::NetworkStatistics& network,
                 bool with_names) {
    SharedCapacity& capacity = services.extensions.parts.get<SharedCapacity>();
    if (!capacity.is_limited()) {
        return;
    }
    add_service(text, capacity.status(services.clock.now()), capacity.counts(), network.connections(), with_names);
    text.gauges("partita_service_size_bytes", "Bytes that the topic takes.",
                size_by_entity(*services.topics.table(), with_names));
}

}  // namespace partita::capacity
