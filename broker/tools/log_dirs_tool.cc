// kafka-log-dirs: shows the size of each partition in the brokers' directories.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "broker/client/partitions.h"
#include "broker/client/topics.h"
#include "broker/tools/java_order.h"
#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "protocol/messages/35_describe_log_dirs.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

using nlohmann::ordered_json;

constexpr Option kLogDirsOptions[] = {
    kBootstrapServer,
    kCommandConfig,
    kHelp,
    kVersion,
    {"describe", "", "show the directories"},
    {"topic-list", "topic,...", "take only these topics"},
    {"broker-list", "id,...", "ask only these brokers"},
};
constexpr Rule kLogDirsRules[] = {{Requires::all_of, "", {"bootstrap-server", "describe"}}};

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words = split(text, ',');
    std::erase(words, "");
    return words;
}

std::string list_of(const std::set<std::int32_t>& ids) {
    std::string text;
    for (const std::int32_t id : ids) {
        text += (text.empty() ? "" : ",") + std::to_string(id);
    }
    return text;
}

/// An object with its members in the order of a Java map with these names.
ordered_json object_of(const std::vector<std::pair<std::string, ordered_json>>& members) {
    std::vector<std::string> names;
    for (const auto& [name, value] : members) {
        names.push_back(name);
    }
    ordered_json object = ordered_json::object();
    for (const std::string& name : in_java_order(names)) {
        object[name] = std::ranges::find(members, name, &std::pair<std::string, ordered_json>::first)->second;
    }
    return object;
}

ordered_json directory_of(const DescribeLogDirsResponse::DescribeLogDirsResult& directory,
                          const std::vector<std::string>& topics) {
    std::map<client::TopicPartition, const DescribeLogDirsResponse::DescribeLogDirsPartition*> found;
    std::vector<client::TopicPartition> order;
    for (const auto& topic : directory.topics) {
        for (const auto& partition : topic.partitions) {
            order.push_back({std::string(topic.name), partition.partition_index});
            found[order.back()] = &partition;
        }
    }
    // Kafka takes partitions from one map and puts those of the requested topics into another one.
    const auto hash = [](const client::TopicPartition& partition) { return java_hash(partition); };
    order = in_java_order(std::move(order), 16, hash);
    std::erase_if(order, [&](const auto& partition) {
        return !topics.empty() && std::ranges::find(topics, partition.topic) == topics.end();
    });
    ordered_json partitions = ordered_json::array();
    for (const client::TopicPartition& name : in_java_order(std::move(order), 16, hash)) {
        const auto& partition = *found.at(name);
        partitions.push_back(object_of({{"partition", client::to_string(name)},
                                        {"size", partition.partition_size},
                                        {"offsetLag", partition.offset_lag},
                                        {"isFuture", partition.is_future_key}}));
    }
    ordered_json error = nullptr;
    if (directory.error_code != ErrorCode::none) {
        error = "org.apache.kafka.common.errors." + client::exception_name(directory.error_code);
    }
    return object_of(
        {{"logDir", std::string(directory.log_dir)}, {"error", std::move(error)}, {"partitions", std::move(partitions)}});
}

Outcome<int> run_log_dirs(const Options& options, const Surroundings& surroundings) {
    std::set<std::int32_t> wanted;
    for (const std::string& word : words_of(options.value("broker-list"))) {
        const auto id = parse_integer(word);
        if (!id || *id != static_cast<std::int32_t>(*id)) {
            return failed("For input string: \"" + word + "\"");
        }
        wanted.insert(static_cast<std::int32_t>(*id));
    }
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(options, surroundings, "log-dirs-tool"));
    const auto membership = client::describe_cluster(cluster);
    if (!membership) {
        return failed(java_text(membership.error()));
    }
    std::set<std::int32_t> present;
    for (const client::Node& node : membership->nodes) {
        present.insert(node.id);
    }
    if (wanted.empty()) {
        wanted = present;
    }
    std::set<std::int32_t> missing;
    std::ranges::set_difference(wanted, present, std::inserter(missing, missing.end()));
    if (!missing.empty()) {
        return failed("ERROR: The given brokers do not exist from --broker-list: " + list_of(missing) +
                      ". Current existent brokers: " + list_of(present));
    }
    surroundings.print("Querying brokers for log directories information\n");
    const std::vector<std::string> topics = words_of(options.value("topic-list"));
    ordered_json brokers = ordered_json::array();
    for (const std::int32_t id : wanted) {
        const DescribeLogDirsRequest request{.topics = nullptr};
        const auto reply = cluster.ask<DescribeLogDirsResponse>(client::Route::node(id), {.name = "describeLogDirs"}, request);
        if (!reply) {
            return failed(java_text(reply.error()));
        }
        if ((*reply)->error_code != ErrorCode::none) {
            return failed(java_text(client::refusal((*reply)->error_code)));
        }
        ordered_json directories = ordered_json::array();
        for (const auto& directory : (*reply)->results) {
            directories.push_back(directory_of(directory, topics));
        }
        brokers.push_back(object_of({{"broker", id}, {"logDirs", std::move(directories)}}));
    }
    surroundings.print("Received log directory information from brokers " + list_of(wanted) + "\n");
    surroundings.print(object_of({{"version", 1}, {"brokers", std::move(brokers)}}).dump() + "\n");
    return 0;
}

}  // namespace

const Tool kLogDirsTool{.name = "log-dirs",
                        .kafka_name = "kafka-log-dirs",
                        .summary = "show the size of each partition in the brokers' directories",
                        .purpose = "This tool helps to query log directory usage on the specified brokers.",
                        .options = kLogDirsOptions,
                        .rules = kLogDirsRules,
                        .run = run_log_dirs};

}  // namespace partita::tools
