// kafka-get-offsets: shows the first and last offsets of partitions, and offsets by time.

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "broker/client/partitions.h"
#include "broker/client/topics.h"
#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "broker/tools/topic_filter.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr std::string_view kTimes =
    "-1 or latest / -2 or earliest / -3 or max-timestamp / -4 or earliest-local / -5 or latest-tiered / -6 or "
    "earliest-pending-upload";

constexpr Option kOffsetsOptions[] = {
    kBootstrapServer,
    kCommandConfig,
    kHelp,
    kVersion,
    {"topic-partitions", "topic1:1,topic2:0-3,topic3,topic4:5-,topic5:-3",
     "take topics by expressions, each with one partition or a range that excludes its end"},
    {"topic", "topic", "take topics by an expression (default: all)"},
    {"partitions", "partition ids", "take only these partitions, separated by commas"},
    {"time", "time",
     "show offsets at a time, in milliseconds since 1970, or by a word: -1 or latest, -2 or earliest, -3 or max-timestamp, -4 or "
     "earliest-local, -5 or latest-tiered, -6 or earliest-pending-upload",
     "latest"},
    {"exclude-internal-topics", "", "leave out Kafka's own topics"},
};
constexpr Rule kOffsetsRules[] = {{Requires::all_of, "", {"bootstrap-server"}}};

Outcome<std::int64_t> parse_time(const std::string& text) {
    constexpr std::pair<std::string_view, std::int64_t> kWords[] = {{"latest", client::kLatest},
                                                                    {"earliest", client::kEarliest},
                                                                    {"max-timestamp", client::kMaxTimestamp},
                                                                    {"earliest-local", client::kEarliestLocal},
                                                                    {"latest-tiered", client::kLatestTiered},
                                                                    {"earliest-pending-upload", client::kEarliestPendingUpload}};
    for (const auto& [word, time] : kWords) {
        if (text == word) {
            return time;
        }
    }
    if (const auto number = parse_integer(text)) {
        return *number;
    }
    return failed("Malformed time argument " + text + ". Please use " + std::string(kTimes) +
                  ", or a specified long format timestamp");
}

/// The selected partitions: one part of --topic-partitions, or --topic with --partitions.
struct PartitionFilter {
    TopicFilter topics;
    /// Empty: the range decides.
    std::set<std::int32_t> partitions;
    std::int32_t first = 0;
    std::int32_t end = std::numeric_limits<std::int32_t>::max();

    [[nodiscard]] bool allows(std::int32_t partition) const {
        return partitions.empty() ? partition >= first && partition < end : partitions.contains(partition);
    }
};

Outcome<TopicFilter> topic_filter(std::string_view text) {
    auto filter = TopicFilter::parse(text.empty() ? ".*" : text);
    if (!filter) {
        return failed(filter.error());
    }
    return std::move(*filter);
}

/// Parses a part of --topic-partitions: TOPIC, TOPIC:3, TOPIC:3-5, TOPIC:3-, TOPIC:-5, :3 ...
Outcome<PartitionFilter> parse_part(const std::string& part) {
    const auto invalid = [&] { return failed("org.apache.kafka.tools.TerseException: Invalid rule specification: " + part); };
    const std::size_t colon = std::min(part.find(':'), part.size());
    PARTITA_TRY_ASSIGN(auto topics, topic_filter(std::string_view(part).substr(0, colon)));
    PartitionFilter filter{.topics = std::move(topics)};
    if (colon == part.size()) {
        return filter;
    }
    const std::string range = part.substr(colon + 1);
    if (range.find_first_not_of("0123456789-") != std::string::npos || std::ranges::count(range, '-') > 1) {
        return invalid();
    }
    const auto number = [](const std::string& text, std::int32_t otherwise) -> std::optional<std::int32_t> {
        if (text.empty()) {
            return otherwise;
        }
        const auto value = parse_integer(text);
        return value && *value <= std::numeric_limits<std::int32_t>::max() ? std::optional(static_cast<std::int32_t>(*value))
                                                                           : std::nullopt;
    };
    const std::size_t dash = range.find('-');
    const auto first = number(range.substr(0, dash), filter.first);
    const auto end = dash == std::string::npos ? filter.end : number(range.substr(dash + 1), filter.end);
    if (!first || !end) {
        return invalid();
    }
    filter.first = *first;
    filter.end = *end;
    if (dash == std::string::npos && !range.empty()) {
        filter.partitions = {*first};
    }
    return filter;
}

Outcome<std::vector<PartitionFilter>> parse_filters(const Options& options) {
    std::vector<PartitionFilter> filters;
    if (const auto parts = options.find("topic-partitions")) {
        for (const std::string& part : split(*parts, ',')) {
            PARTITA_TRY_ASSIGN(auto filter, parse_part(part));
            filters.push_back(std::move(filter));
        }
        return filters;
    }
    PARTITA_TRY_ASSIGN(auto topics, topic_filter(options.value("topic")));
    PartitionFilter filter{.topics = std::move(topics)};
    const std::string list = options.value("partitions");
    for (const std::string& text : list.empty() ? std::vector<std::string>() : split(list, ',')) {
        const auto number = parse_integer(text);
        if (!number) {
            return failed("--partitions expects a comma separated list of numeric partition ids, but received: " + list);
        }
        filter.partitions.insert(static_cast<std::int32_t>(*number));
    }
    filters.push_back(std::move(filter));
    return filters;
}

Outcome<std::vector<client::TopicPartition>> chosen_partitions(client::Cluster& cluster,
                                                               const std::vector<PartitionFilter>& filters,
                                                               bool excludes_internal) {
    const auto listed = client::list_topics(cluster);
    if (!listed) {
        return failed(listed.error());
    }
    std::vector<std::string> names;
    for (const auto& topic : *listed) {
        const bool is_wanted = std::ranges::any_of(filters, [&](const auto& f) { return f.topics.allows(topic.name, false); });
        if (is_wanted && !(excludes_internal && topic.is_internal)) {
            names.push_back(topic.name);
        }
    }
    const auto topics = client::describe_topics(cluster, names);
    if (!topics) {
        return failed(topics.error());
    }
    std::vector<client::TopicPartition> chosen;
    for (const auto& topic : *topics) {
        for (const auto& partition : topic.partitions) {
            const bool is_wanted = std::ranges::any_of(
                filters, [&](const auto& f) { return f.topics.allows(topic.name, false) && f.allows(partition.index); });
            if (is_wanted) {
                chosen.push_back({topic.name, partition.index});
            }
        }
    }
    return chosen;
}

Outcome<int> run_offsets(const Options& options, const Surroundings& surroundings) {
    if (const auto valid = client::parse_bootstrap(options.value("bootstrap-server")); !valid) {
        return usage("Please provide valid host:port like host1:9091,host2:9092\n");
    }
    if (options.has("topic-partitions") && (options.has("topic") || options.has("partitions"))) {
        return failed("--topic-partitions cannot be used with --topic or --partitions");
    }
    PARTITA_TRY_ASSIGN(const auto time, parse_time(options.value("time")));
    PARTITA_TRY_ASSIGN(auto filters, parse_filters(options));
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(options, surroundings, "GetOffsetShell"));
    PARTITA_TRY_ASSIGN(const auto partitions, chosen_partitions(cluster, filters, options.has("exclude-internal-topics")));
    if (partitions.empty()) {
        return failed("Could not match any topic-partitions with the specified filters");
    }
    auto offsets = client::list_offsets(cluster, partitions, time);
    if (!offsets) {
        return failed(std::move(offsets.error()));
    }
    // Kafka's tool sorts "topic-10" before "topic-2".
    std::map<std::string, std::string> lines;
    for (const auto& [partition, offset] : *offsets) {
        const std::string name = client::to_string(partition);
        if (!offset) {
            surroundings.complain("Skip getting offsets for topic-partition " + name +
                                  " due to error: " + java_text(offset.error()));
        } else if (*offset >= 0) {
            lines[name] = partition.topic + ":" + std::to_string(partition.partition) + ":" + std::to_string(*offset) + "\n";
        }
    }
    for (const auto& [name, line] : lines) {
        surroundings.print(line);
    }
    return 0;
}

}  // namespace

const Tool kOffsetsTool{.name = "offsets",
                        .kafka_name = "kafka-get-offsets",
                        .summary = "show the first and last offsets of partitions, or the offset at a time",
                        .purpose = "An interactive shell for getting topic-partition offsets.",
                        .options = kOffsetsOptions,
                        .rules = kOffsetsRules,
                        .failure_prefix = "Error occurred: ",
                        .run = run_offsets,
                        .refusal_prefix = "Error occurred: "};

}  // namespace partita::tools
