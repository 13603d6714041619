#include "broker/http/metrics.h"

#include <unistd.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "broker/addons/capacity/shell/shared_capacity.h"
#include "broker/addons/capture/config/capture_config.h"
#include "broker/config/current_config.h"
#include "broker/handlers/services.h"
#include "broker/insight/findings/finding_json.h"
#include "broker/insight/hub/findings_hub.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/clients/request_watch.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/fences/fences.h"
#include "broker/runtime/loop/counters.h"
#include "broker/runtime/loop/network_statistics.h"
#include "broker/runtime/queries/topic_sizes.h"
#include "schedule/clock.h"
#include "storage/log_directory.h"
#include "storage/log_flusher.h"

namespace partita::http {
namespace {

class Text {
  public:
    void gauge(std::string_view name, std::string_view help, std::uint64_t value) { add(name, "gauge", help, value); }
    void counter(std::string_view name, std::string_view help, std::uint64_t value) { add(name, "counter", help, value); }
    /// Values of one metric by their labels, each as `name="value"`, comma-separated.
    void gauges(std::string_view name, std::string_view help, const std::map<std::string, std::uint64_t>& values) {
        add(name, "gauge", help, values);
    }
    void counters(std::string_view name, std::string_view help, const std::map<std::string, std::uint64_t>& values) {
        add(name, "counter", help, values);
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

  private:
    void add(std::string_view name, std::string_view type, std::string_view help,
             const std::map<std::string, std::uint64_t>& values) {
        text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
        text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
        for (const auto& [labels, value] : values) {
            text_.append(name).append("{").append(labels).append("} ").append(std::to_string(value)).append("\n");
        }
    }
    void add(std::string_view name, std::string_view type, std::string_view help, std::uint64_t value) {
        text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
        text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
        text_.append(name).append(" ").append(std::to_string(value)).append("\n");
    }
    std::string text_;
};

/// Open findings by hazard and severity.
std::map<std::string, std::uint64_t> findings_by_hazard(const runtime::FindingsHub& findings) {
    std::map<std::string, std::uint64_t> counts;
    for (const insight::OpenFinding& open : findings.open()) {
        ++counts["id=\"" + insight::to_string(open.finding.id) + "\",severity=\"" +
                 std::string(insight::to_string(open.finding.severity)) + "\""];
    }
    return counts;
}

void add_capture(Text& text, const runtime::CaptureCounters& counters) {
    const auto load = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
    text.counter("partita_captured_messages_total", "Records that capture wrote to files.", load(counters.messages));
    text.counter("partita_captured_bytes_total", "Bytes of the files that capture wrote.", load(counters.bytes));
    text.counter("partita_captured_files_total", "Files that capture wrote.", load(counters.files));
    text.counter("partita_capture_lost_messages_total", "Offsets that were removed before they were captured.",
                 load(counters.lost_messages));
    text.counter("partita_capture_failures_total", "Attempts of capture that failed and are made again.",
                 load(counters.failures));
    text.gauge("partita_capture_backlog_messages", "Offsets that are in no file of capture yet.",
               load(counters.backlog_messages));
    text.gauge("partita_capture_failing_partitions", "Partitions of which the last attempt of capture failed.",
               load(counters.failing_partitions));
}

std::string entity_label(std::string_view topic, bool with_names) {
    return "entity=\"" + std::string(with_names ? topic : std::string_view()) + "\"";
}

/// A managed event service's metrics, by its names and with its arithmetic: a batch of a hundred records is one request and a
/// hundred messages. The entity is the topic; requests that belong to none that is counted by itself have an empty one.
/// To whom no names are told all topics are one.
void add_service(Text& text, const runtime::SharedCapacity::Status& capacity, const capacity::TrafficCounts& traffic,
                 const runtime::ConnectionCounts& connections, bool with_names) {
    using Counts = capacity::TrafficCounts::Counts;
    struct Metric {
        std::string_view name;
        std::string_view help;
        std::uint64_t (*value)(const Counts&);
    };
    static constexpr Metric kMetrics[] = {
        {"partita_service_incoming_requests_total", "Requests that send or read events.",
         [](const Counts& counts) { return counts.requests; }},
        {"partita_service_successful_requests_total", "Those that succeeded, had they to wait or not.",
         [](const Counts& counts) { return counts.successful_requests; }},
        {"partita_service_throttled_requests_total", "Those that were refused, or given nothing, for lack of capacity.",
         [](const Counts& counts) { return counts.throttled_requests; }},
        {"partita_service_server_errors_total", "Those that failed because of the broker.",
         [](const Counts& counts) { return counts.server_errors; }},
        {"partita_service_user_errors_total", "Those that failed because of what they asked for.",
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
    text.gauge("partita_capacity_ingress_wait_milliseconds", "How long somebody would wait who sends next to nothing now.",
               static_cast<std::uint64_t>(capacity.ingress_wait_ms));
    text.gauge("partita_capacity_egress_wait_milliseconds", "How long somebody would wait who reads next to nothing now.",
               static_cast<std::uint64_t>(capacity.egress_wait_ms));
}

/// What the topics of clients hold: of as many as are counted by themselves, in the order of their names.
std::map<std::string, std::uint64_t> size_by_entity(const runtime::TopicTable& table, bool with_names) {
    std::map<std::string, std::uint64_t> sizes;
    std::size_t count = 0;
    for (const catalog::Topic& topic : table.catalog->topics()) {
        if (count == capacity::TrafficCounts::kEntitiesMax) {
            break;
        }
        if (!topic.internal) {
            ++count;
            sizes[entity_label(topic.name, with_names)] += runtime::topic_size(*table.find(topic.id)).bytes();
        }
    }
    return sizes;
}

/// A text as the value of a label.
std::string label_value(const std::string& text) {
    std::string value;
    for (const char character : insight::name_text(text)) {
        if (character == '\n') {
            value += "\\n";
            continue;
        }
        if (character == '"' || character == '\\') {
            value += '\\';
        }
        value += character;
    }
    return value;
}

/// What clients did that have proven who they are; nothing where nobody had to.
void add_principals(Text& text, const std::vector<runtime::PrincipalUsages::Report>& principals) {
    using Report = runtime::PrincipalUsages::Report;
    struct Metric {
        std::string_view name;
        std::string_view help;
        std::uint64_t Report::* value;
    };
    static constexpr Metric kMetrics[] = {
        {"partita_principal_requests_total", "Requests of a principal's clients.", &Report::requests},
        {"partita_principal_produced_bytes_total", "Bytes of record batches that they appended.", &Report::produced_bytes},
        {"partita_principal_fetched_bytes_total", "Bytes of record batches that they were sent.", &Report::fetched_bytes},
        {"partita_principal_denials_total", "Resources that they were refused.", &Report::denials},
        {"partita_principal_throttled_milliseconds_total", "For how long they were told to wait because of quotas.",
         &Report::throttled_ms},
    };
    if (principals.empty()) {
        return;
    }
    for (const Metric& metric : kMetrics) {
        std::map<std::string, std::uint64_t> values;
        for (const Report& principal : principals) {
            values.emplace("principal=\"" + label_value(principal.principal) + "\"", principal.*metric.value);
        }
        text.counters(metric.name, metric.help, values);
    }
}

}  // namespace

std::uint64_t resident_bytes() {
    std::uint64_t pages = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        unsigned long long total = 0;
        unsigned long long resident = 0;
        if (std::fscanf(file, "%llu %llu", &total, &resident) == 2) {
            pages = resident;
        }
        std::fclose(file);
    }
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::string metrics_text(runtime::Services& services, const runtime::NetworkStatistics& network, bool with_names) {
    const auto table = services.topics.table();
    const runtime::Counters& counters = services.counters;
    Text text;
    const auto load = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };

    text.counter("kafka_server_brokertopicmetrics_bytesin_total", "Bytes of record batches appended by producers.",
                 load(counters.produced_bytes));
    text.counter("kafka_server_brokertopicmetrics_messagesin_total", "Records appended by producers.",
                 load(counters.produced_records));
    text.counter("kafka_server_brokertopicmetrics_bytesout_total", "Bytes of record batches sent to consumers.",
                 load(counters.fetched_bytes));
    text.counter("kafka_server_brokertopicmetrics_failedproducerequests_total", "Partitions of produce requests that failed.",
                 load(counters.failed_produces));
    text.counter("kafka_server_brokertopicmetrics_failedfetchrequests_total", "Partitions of fetch requests that failed.",
                 load(counters.failed_fetches));
    text.counter("kafka_network_requestmetrics_requests_total", "Requests served.", services.requests.requests());
    text.gauge("kafka_server_socketservermetrics_connection_count", "Open client connections.",
               static_cast<std::uint64_t>(network.connection_count()));
    text.counter("kafka_server_socketservermetrics_incoming_byte_total", "Bytes received.", network.received_bytes());
    text.counter("kafka_server_socketservermetrics_outgoing_byte_total", "Bytes sent.", network.sent_bytes());
    text.counter("kafka_server_socketservermetrics_successful_authentication_total",
                 "Clients that have logged in, or shaken hands by TLS where nobody logs in.",
                 load(counters.successful_authentications));
    text.counter("kafka_server_socketservermetrics_failed_authentication_total", "Logins and TLS handshakes that failed.",
                 load(counters.failed_authentications));
    text.gauge("kafka_controller_kafkacontroller_globaltopiccount", "Topics.", table->catalog->topic_count());
    text.gauge("kafka_controller_kafkacontroller_globalpartitioncount", "Partitions.",
               static_cast<std::uint64_t>(table->catalog->partition_count()));
    text.gauge("kafka_coordinator_group_groups", "Consumer groups known to the coordinators.", services.groups.group_count());
    text.counter("partita_log_syncs_total", "Logs that were synced, for acknowledgements or in the background.",
                 services.flusher.counters().syncs);
    text.gauge("partita_open_log_files", "Log files that are open.", services.open_files.open_count());
    text.counter("partita_connections_closed_for_bad_input_total", "Connections closed because of what they sent.",
                 load(counters.closed_for_bad_input));
    text.gauges("partita_expansion_findings", "Findings about expansions that hold now.", findings_by_hazard(services.findings));
    text.gauge("partita_expansion_fences", "Topics with partitions whose records may have to wait for their parents.",
               static_cast<std::uint64_t>(services.fences.count()));
    text.counter("partita_expansion_fence_timeouts_total", "Fences that let a group pass without its having caught up.",
                 services.fences.timeouts());
    if (!config::capture_directory(*services.config.get()).empty()) {
        add_capture(text, counters.capture);
    }
    if (services.capacity.is_limited()) {
        add_service(text, services.capacity.status(services.clock.now()), services.capacity.counts(), network.connections(),
                    with_names);
        text.gauges("partita_service_size_bytes", "Bytes that the topic takes.", size_by_entity(*table, with_names));
    }
    if (with_names) {
        add_principals(text, services.requests.principals());
    }
    text.gauge("process_resident_memory_bytes", "Resident memory of the broker.", resident_bytes());
    return text.take();
}

}  // namespace partita::http
