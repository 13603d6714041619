#include "broker/cli/top_data.h"

#include <algorithm>
#include <cmath>

namespace partita::cli {
namespace {

using nlohmann::ordered_json;

std::int64_t number(const ordered_json& object, const char* name) {
    if (!object.is_object()) {
        return 0;
    }
    const auto found = object.find(name);
    return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string text(const ordered_json& object, const char* name) {
    if (!object.is_object()) {
        return {};
    }
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Null if the answer has no such list.
const ordered_json* list(const ordered_json& answer, const char* name) {
    if (!answer.is_object()) {
        return nullptr;
    }
    const auto found = answer.find(name);
    return found != answer.end() && found->is_array() ? &*found : nullptr;
}

double seconds_between(const TopSample& earlier, const TopSample& later) {
    return static_cast<double>(later.time_ms - earlier.time_ms) / 1000;
}

/// With three decimals: more would be noise.
double rounded(double value) { return std::round(value * 1000) / 1000; }

ordered_json or_null(const std::optional<double>& value) { return value ? ordered_json(rounded(*value)) : ordered_json(); }
ordered_json or_null(const std::optional<std::int64_t>& value) { return value ? ordered_json(*value) : ordered_json(); }

}  // namespace

bool take_broker(const ordered_json& answer, TopSample& sample) {
    if (!answer.is_object() || !answer.contains("since_start") || !answer["since_start"].is_object()) {
        return false;
    }
    const ordered_json& since_start = answer["since_start"];
    const ordered_json broker = answer.value("broker", ordered_json::object());
    sample.time_ms = number(answer, "time_ms");
    sample.version = text(answer, "version");
    sample.kafka = text(broker, "kafka");
    sample.node_id = number(broker, "node_id");
    sample.resident_bytes = number(answer, "resident_bytes");
    sample.partitions = number(answer, "partitions");
    sample.connections = number(answer, "connections");
    sample.requests = number(since_start, "requests");
    sample.records_in = number(since_start, "records_in");
    sample.bytes_in = number(since_start, "bytes_in");
    sample.bytes_out = number(since_start, "bytes_out");
    return true;
}

bool take_topics(const ordered_json& answer, TopSample& sample) {
    const ordered_json* topics = list(answer, "topics");
    if (topics == nullptr) {
        return false;
    }
    for (const ordered_json& topic : *topics) {
        sample.topics.push_back({.name = text(topic, "topic"),
                                 .partitions = number(topic, "partitions"),
                                 .bytes = number(topic, "bytes"),
                                 .offsets = number(topic, "offsets"),
                                 .written = number(topic, "written")});
    }
    return true;
}

bool take_groups(const ordered_json& answer, TopSample& sample) {
    const ordered_json* groups = list(answer, "groups");
    if (groups == nullptr) {
        return false;
    }
    for (const ordered_json& group : *groups) {
        TopGroup one;
        one.name = text(group, "group");
        one.state = text(group, "state");
        one.type = text(group, "type");
        sample.groups.push_back(std::move(one));
    }
    const auto is_idle = [](const TopGroup& group) { return group.state == "Empty" || group.state == "Dead"; };
    std::ranges::stable_sort(sample.groups, {}, is_idle);
    return true;
}

bool take_group(const ordered_json& answer, TopGroup& group) {
    const ordered_json* members = list(answer, "members");
    if (members == nullptr) {
        return false;
    }
    group.members = static_cast<std::int64_t>(members->size());
    group.lag = number(answer, "lag");
    return true;
}

bool take_findings(const ordered_json& answer, TopSample& sample) {
    const ordered_json* findings = list(answer, "findings");
    if (findings == nullptr) {
        return false;
    }
    for (const ordered_json& finding : *findings) {
        const ordered_json subject = finding.is_object() ? finding.value("subject", ordered_json()) : ordered_json();
        sample.findings.push_back({.id = text(finding, "id"),
                                   .severity = text(finding, "severity"),
                                   .topic = text(subject, "topic"),
                                   .condition = text(finding, "condition")});
    }
    const auto mildness = [](const TopFinding& one) { return one.severity == "block" ? 0 : one.severity == "warn" ? 1 : 2; };
    std::ranges::stable_sort(sample.findings, {}, mildness);
    return true;
}

bool take_connections(const ordered_json& answer, TopSample& sample) {
    const ordered_json* connections = list(answer, "connections");
    if (connections == nullptr) {
        return false;
    }
    sample.clients_in_all = number(answer, "total");
    for (const ordered_json& one : *connections) {
        const std::string software = text(one, "software");
        const std::string version = text(one, "version");
        sample.clients.push_back({.client_id = text(one, "client_id"),
                                  .software = software + (software.empty() || version.empty() ? "" : " ") + version,
                                  .address = text(one, "address") + ":" + std::to_string(number(one, "port")),
                                  .program = text(one, "program")});
    }
    return true;
}

std::optional<TopRates> rates_between(const TopSample& earlier, const TopSample& later) {
    const double seconds = seconds_between(earlier, later);
    const bool is_same_run = later.requests >= earlier.requests && later.records_in >= earlier.records_in &&
                             later.bytes_in >= earlier.bytes_in && later.bytes_out >= earlier.bytes_out;
    if (seconds <= 0 || !is_same_run) {
        return std::nullopt;
    }
    const auto rate = [&](std::int64_t before, std::int64_t after) { return static_cast<double>(after - before) / seconds; };
    return TopRates{rate(earlier.requests, later.requests), rate(earlier.records_in, later.records_in),
                    rate(earlier.bytes_in, later.bytes_in), rate(earlier.bytes_out, later.bytes_out)};
}

std::optional<double> records_a_second(const TopSample& earlier, const TopSample& later, const TopTopic& topic) {
    const double seconds = seconds_between(earlier, later);
    // Both samples are in the order of the broker's answer, by name.
    const auto before = std::ranges::lower_bound(earlier.topics, topic.name, {}, &TopTopic::name);
    if (seconds <= 0 || before == earlier.topics.end() || before->name != topic.name || before->written > topic.written) {
        return std::nullopt;
    }
    return static_cast<double>(topic.written - before->written) / seconds;
}

std::string top_json(const TopSample& sample, const TopSample* earlier) {
    const auto rates = earlier == nullptr ? std::nullopt : rates_between(*earlier, sample);
    const auto rate = [&](double TopRates::* member) {
        return rates ? or_null(std::optional((*rates).*member)) : ordered_json();
    };
    ordered_json line{{"schema", 1},
                      {"time_ms", sample.time_ms},
                      {"broker", {{"node_id", sample.node_id}, {"kafka", sample.kafka}, {"version", sample.version}}},
                      {"requests_per_second", rate(&TopRates::requests)},
                      {"records_in_per_second", rate(&TopRates::records_in)},
                      {"bytes_in_per_second", rate(&TopRates::bytes_in)},
                      {"bytes_out_per_second", rate(&TopRates::bytes_out)},
                      {"connections", sample.connections},
                      {"partitions", sample.partitions},
                      {"resident_bytes", sample.resident_bytes}};
    line["topics"] = ordered_json::array();
    for (const TopTopic& topic : sample.topics) {
        line["topics"].push_back(
            {{"topic", topic.name},
             {"partitions", topic.partitions},
             {"bytes", topic.bytes},
             {"offsets", topic.offsets},
             {"records_per_second", or_null(earlier == nullptr ? std::nullopt : records_a_second(*earlier, sample, topic))}});
    }
    line["groups"] = ordered_json::array();
    for (const TopGroup& group : sample.groups) {
        line["groups"].push_back({{"group", group.name},
                                  {"state", group.state},
                                  {"type", group.type},
                                  {"members", or_null(group.members)},
                                  {"lag", or_null(group.lag)}});
    }
    line["findings"] = ordered_json::array();
    for (const TopFinding& one : sample.findings) {
        line["findings"].push_back(
            {{"id", one.id}, {"severity", one.severity}, {"topic", one.topic}, {"condition", one.condition}});
    }
    line["clients"] = ordered_json::array();
    for (const TopClient& one : sample.clients) {
        line["clients"].push_back(
            {{"client_id", one.client_id}, {"software", one.software}, {"address", one.address}, {"program", one.program}});
    }
    return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace partita::cli
