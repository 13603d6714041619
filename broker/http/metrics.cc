#include "broker/http/metrics.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "broker/handlers/services.h"
#include "broker/http/addition.h"
#include "broker/http/metrics_text.h"
#include "broker/insight/findings/finding_json.h"
#include "broker/insight/hub/findings_hub.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/clients/request_watch.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/fences/fences.h"
#include "broker/runtime/loop/counters.h"
#include "broker/runtime/loop/network_statistics.h"
#include "storage/log_directory.h"
#include "storage/log_flusher.h"

namespace partita::http {
namespace {

/// Open findings by hazard and severity.
std::map<std::string, std::uint64_t> findings_by_hazard(const insight::FindingsHub& findings) {
    std::map<std::string, std::uint64_t> counts;
    for (const insight::OpenFinding& open : findings.open()) {
        ++counts["id=\"" + insight::to_string(open.finding.id) + "\",severity=\"" +
                 std::string(insight::to_string(open.finding.severity)) + "\""];
    }
    return counts;
}

/// The text as the value of a label.
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

/// Keys that groups read out of order (H06), by topic.
std::map<std::string, std::uint64_t> keys_out_of_order(const insight::FindingsHub& findings) {
    std::map<std::string, std::uint64_t> counts;
    for (const insight::OpenFinding& open : findings.open()) {
        if (open.finding.id != insight::HazardId::inversion_delivered) {
            continue;
        }
        const auto keys = std::ranges::find(open.finding.numbers, "keys", &insight::FindingNumber::name);
        if (keys != open.finding.numbers.end()) {
            counts["topic=\"" + label_value(open.finding.subject.topic) + "\""] += static_cast<std::uint64_t>(keys->value);
        }
    }
    return counts;
}

/// The metrics of authenticated principals; nothing if no listener authenticates.
void add_principals(MetricsText& text, const std::vector<runtime::PrincipalUsages::Report>& principals) {
    using Report = runtime::PrincipalUsages::Report;
    struct Metric {
        std::string_view name;
        std::string_view help;
        std::uint64_t Report::* value;
    };
    static constexpr Metric kMetrics[] = {
        {"partita_principal_requests_total", "Requests of a principal's clients.", &Report::requests},
        {"partita_principal_produced_bytes_total", "Bytes of record batches that the principal's clients appended.",
         &Report::produced_bytes},
        {"partita_principal_fetched_bytes_total", "Bytes of record batches that the principal's clients received.",
         &Report::fetched_bytes},
        {"partita_principal_denials_total", "Resources that the broker refused to the principal's clients.", &Report::denials},
        {"partita_principal_throttled_milliseconds_total", "Time that quotas made the principal's clients wait.",
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

std::string metrics_text(const runtime::Services& services, const runtime::NetworkStatistics& network, bool with_names) {
    const auto table = services.topics.table();
    const runtime::Counters& counters = services.upkeep.counters;
    MetricsText text;
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
                 "Logins that succeeded, or TLS handshakes on listeners without login.",
                 load(counters.successful_authentications));
    text.counter("kafka_server_socketservermetrics_failed_authentication_total", "Logins and TLS handshakes that failed.",
                 load(counters.failed_authentications));
    text.gauge("kafka_controller_kafkacontroller_globaltopiccount", "Topics.", table->catalog->topic_count());
    text.gauge("kafka_controller_kafkacontroller_globalpartitioncount", "Partitions.",
               static_cast<std::uint64_t>(table->catalog->partition_count()));
    text.gauge("kafka_coordinator_group_groups", "Consumer groups known to the coordinators.",
               services.coordinators.groups.group_count());
    text.counter("partita_log_syncs_total", "Logs that were synced, for acknowledgements or in the background.",
                 services.upkeep.flusher.counters().syncs);
    text.gauge("partita_open_log_files", "Log files that are open.", services.upkeep.open_files.open_count());
    text.counter("partita_connections_closed_for_bad_input_total", "Connections closed because of invalid data.",
                 load(counters.closed_for_bad_input));
    text.gauges("partita_expansion_findings", "Findings about expansions that hold now.",
                findings_by_hazard(services.insight.findings));
    text.gauge("partita_expansion_fences", "Topics with partitions whose records may have to wait for their parents.",
               static_cast<std::uint64_t>(services.growth.fences.count()));
    text.counter("partita_expansion_fence_timeouts_total", "Fences that let a group pass before it caught up.",
                 services.growth.fences.timeouts());
    for (const Addition* addition : additions()) {
        if (addition->add_metrics != nullptr) {
            addition->add_metrics(text, services, network, with_names);
        }
    }
    if (with_names) {
        text.gauges("partita_expansion_out_of_order_keys",
                    "Keys that groups read out of order since a growth, by topic, as long as the finding H06 is open.",
                    keys_out_of_order(services.insight.findings));
        add_principals(text, services.requests.principals());
    }
    text.gauge("process_resident_memory_bytes", "Resident memory of the broker.", resident_bytes());
    return text.take();
}

}  // namespace partita::http
