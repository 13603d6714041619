// kafka-leader-election: elects leaders of partitions.

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "broker/client/quorum.h"
#include "broker/tools/java_order.h"
#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

using client::TopicPartition;

constexpr Option kElectionOptions[] = {
    kBootstrapServer,
    kCommandConfig,
    {"admin.config", "file", "old name of --command-config"},
    kHelp,
    kVersion,
    one_of({"election-type", "type",
            "elect preferred (the first replica, if another one leads) or unclean (any replica, if no replica leads)"},
           "preferred unclean"),
    {"topic", "topic", "name the topic, with --partition"},
    {"partition", "number", "name the partition"},
    {"all-topic-partitions", "", "elect in all partitions that need an election"},
    {"path-to-json-file", "file", R"(read the partitions from a file: {"partitions": [{"topic": "t", "partition": 1}]})"},
};

/// The checks of Kafka's tool on the line, in its order.
Outcome<void> check_election_line(const Options& options) {
    std::vector<std::string> missing;
    for (const char* name : {"bootstrap-server", "election-type"}) {
        if (!options.has(name)) {
            missing.emplace_back(name);
        }
    }
    if (!missing.empty()) {
        return refused("Missing required option(s): " + joined(missing, ", "));
    }
    if (options.has("admin.config") && options.has("command-config")) {
        return usage("Option \"[admin.config]\" can't be used with option \"[command-config]\"");
    }
    if (options.has("topic") + options.has("all-topic-partitions") + options.has("path-to-json-file") != 1) {
        return refused("One and only one of the following options is required: topic, all-topic-partitions, path-to-json-file");
    }
    if (options.has("topic") && !options.has("partition")) {
        return refused("Missing required option(s): partition");
    }
    if (!options.has("topic") && options.has("partition")) {
        return refused("Option partition is only allowed if topic is used");
    }
    return {};
}

Outcome<std::set<TopicPartition>> partitions_in(const std::string& path) {
    PARTITA_TRY_ASSIGN(const auto text, read_file(path));
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded()) {
        return refused("Replica election data is empty");
    }
    if (!json.is_object() || !json.contains("partitions") || !json["partitions"].is_array()) {
        return refused("Replica election data is missing \"partitions\" field");
    }
    std::set<TopicPartition> partitions;
    for (const auto& one : json["partitions"]) {
        const bool is_whole = one.is_object() && one.contains("topic") && one["topic"].is_string() && one.contains("partition") &&
                              one["partition"].is_number_integer();
        if (!is_whole) {
            return refused(path + ": a partition must be {\"topic\": \"t\", \"partition\": 1}, not " + one.dump());
        }
        const TopicPartition partition{one["topic"].get<std::string>(), one["partition"].get<std::int32_t>()};
        if (!partitions.insert(partition).second) {
            return refused("Replica election data contains duplicate partitions: [" + client::to_string(partition) + "]");
        }
    }
    return partitions;
}

Outcome<int> run_election(const Options& options, const Surroundings& surroundings) {
    PARTITA_TRY(check_election_line(options));
    std::string type = options.value("election-type");
    for (char& letter : type) {
        letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 32) : letter;
    }
    if (type != "PREFERRED" && type != "UNCLEAN") {
        return refused("Cannot parse argument '" + options.value("election-type") + "' of option election-type");
    }
    std::optional<std::set<TopicPartition>> partitions;
    if (const auto path = options.find("path-to-json-file")) {
        PARTITA_TRY_ASSIGN(partitions, partitions_in(*path));
    } else if (options.has("topic")) {
        const auto index = options.integer("partition");
        if (!index) {
            return refused(index.error());
        }
        partitions = std::set<TopicPartition>{{options.value("topic"), **index}};
    }
    PARTITA_TRY_ASSIGN(auto properties,
                       options.has("admin.config") ? read_properties(options.value("admin.config")) : client_properties(options));
    if (options.has("admin.config")) {
        surroundings.print(
            "Option --admin.config has been deprecated and will be removed in a future version. Use --command-config instead.\n");
    }
    properties["bootstrap.servers"] = options.value("bootstrap-server");
    properties.try_emplace("default.api.timeout.ms", "30000");
    properties.try_emplace("request.timeout.ms", "15000");
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(std::move(properties), surroundings));
    const auto election = type == "PREFERRED" ? client::ElectionType::preferred : client::ElectionType::unclean;
    const auto results = client::elect_leaders(cluster, election, partitions);
    if (!results) {
        using Kind = client::Failure::Kind;
        const bool is_late = results.error().kind == Kind::timed_out || results.error().kind == Kind::unreachable;
        if (!is_late && results.error().code != ErrorCode::cluster_authorization_failed) {
            return failed(java_text(results.error()));
        }
        const std::string text = is_late ? "Timeout waiting for election results" : "Not authorized to perform leader election";
        surroundings.print(text + "\n");
        return failed(text);
    }
    std::vector<TopicPartition> elected;
    std::vector<TopicPartition> unneeded;
    std::vector<TopicPartition> wrong;
    for (const auto& [partition, failure] : *results) {
        const bool needs_none = failure.code == ErrorCode::election_not_needed;
        (failure.code == ErrorCode::none ? elected : needs_none ? unneeded : wrong).push_back(partition);
    }
    const auto ordered = [](const std::vector<TopicPartition>& some) {
        return in_java_order(some, 16, [](const TopicPartition& one) { return java_hash(one); });
    };
    const auto names = [&](const std::vector<TopicPartition>& some) {
        std::vector<std::string> all;
        for (const TopicPartition& one : ordered(some)) {
            all.push_back(client::to_string(one));
        }
        return joined(all, ", ");
    };
    if (!elected.empty()) {
        surroundings.print("Successfully completed leader election (" + type + ") for partitions " + names(elected) + "\n");
    }
    if (!unneeded.empty()) {
        surroundings.print("Valid replica already elected for partitions " + names(unneeded) + "\n");
    }
    for (const TopicPartition& partition : ordered(wrong)) {
        surroundings.print("Error completing leader election (" + type + ") for partition: " + client::to_string(partition) +
                           ": " + java_text(results->at(partition)) + "\n");
    }
    if (!wrong.empty()) {
        return failed(std::to_string(wrong.size()) + " replica(s) could not be elected");
    }
    return 0;
}

}  // namespace

const Tool kElectionTool{.name = "elect-leaders",
                         .kafka_name = "kafka-leader-election",
                         .summary = "elect leaders",
                         .purpose =
                             "This tool attempts to elect a new leader for a set of topic partitions. The type of elections "
                             "supported are preferred replicas and unclean replicas.",
                         .options = kElectionOptions,
                         .run = run_election,
                         .needs_options = false};

}  // namespace partita::tools
