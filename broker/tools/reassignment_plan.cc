#include "broker/tools/reassignment_plan.h"

#include <nlohmann/json.hpp>

#include "broker/tools/java_order.h"
#include "broker/tools/text.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

using client::Replica;
using client::TopicPartition;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::int64_t kVersion1 = 1;
constexpr std::string_view kAnyDirectory = "any";

template <class Json>
std::string text_of(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Reads the first JSON value of a text; like Kafka's parser, it ignores what follows. Returns a discarded value if the text does
/// not begin with JSON.
json first_value(const std::string& text) {
    json value;
    nlohmann::detail::json_sax_dom_parser<json> handler(value, false);
    const bool is_whole = json::sax_parse(text, &handler, json::input_format_t::json, false);
    return is_whole ? value : json(json::value_t::discarded);
}

// As Kafka's JsonValue and DecodeJson read a value, with their texts.

std::unexpected<Ending> unexpected_value(std::string_view wanted, const json& value) {
    return failed("Expected `" + std::string(wanted) + "` value, received " + text_of(value));
}

/// Null: the object has no such field.
Outcome<const json*> find(const json& object, const char* name) {
    if (!object.is_object()) {
        return failed("Expected JSON object, received " + text_of(object));
    }
    const auto field = object.find(name);
    return field == object.end() ? nullptr : &*field;
}

Outcome<const json*> get(const json& object, const char* name) {
    PARTITA_TRY_ASSIGN(const json* field, find(object, name));
    if (field == nullptr) {
        return failed("No such field exists: `" + std::string(name) + "`");
    }
    return field;
}

Outcome<std::int32_t> integer(const json& value) {
    const bool is_small = value.is_number_unsigned() ? value.get<std::uint64_t>() <= INT32_MAX
                                                     : value.is_number_integer() && value.get<std::int64_t>() >= INT32_MIN;
    if (!is_small) {
        return unexpected_value("Integer", value);
    }
    return value.get<std::int32_t>();
}

Outcome<std::string> string(const json& value) {
    if (!value.is_string()) {
        return unexpected_value("String", value);
    }
    return value.get<std::string>();
}

template <class Decode>
auto list(const json& value, Decode decode) -> Outcome<std::vector<typename decltype(decode(value))::value_type>> {
    if (!value.is_array()) {
        return unexpected_value("JSON array", value);
    }
    std::vector<typename decltype(decode(value))::value_type> all;
    for (const json& element : value) {
        PARTITA_TRY_ASSIGN(auto one, decode(element));
        all.push_back(std::move(one));
    }
    return all;
}

/// The elements of a field that may be missing, after a look at the version.
Outcome<const json*> elements(const json& root, const char* name) {
    PARTITA_TRY_ASSIGN(const json* version, find(root, "version"));
    if (version != nullptr) {
        PARTITA_TRY_ASSIGN(const std::int32_t number, integer(*version));
        if (number != kVersion1) {
            return failed("Not supported version field value " + std::to_string(number));
        }
    }
    PARTITA_TRY_ASSIGN(const json* field, find(root, name));
    if (field != nullptr && !field->is_array()) {
        return failed("Expected JSON array, received " + text_of(*field));
    }
    return field;
}

template <class T, class Text>
std::string list_text(const std::vector<T>& values, std::string_view between, Text text_of_one) {
    std::vector<std::string> words;
    for (const T& value : values) {
        words.push_back(text_of_one(value));
    }
    return joined(words, between);
}
std::string text_of_number(std::int32_t number) { return std::to_string(number); }
std::string text_of_word(const std::string& word) { return word; }
std::string text_of_partition(const TopicPartition& partition) { return client::to_string(partition); }

/// Values that are there twice, each once.
template <class T>
std::vector<T> repeated(const std::vector<T>& values) {
    std::set<T> seen;
    std::set<T> told;
    std::vector<T> twice;
    for (const T& value : values) {
        if (!seen.insert(value).second && told.insert(value).second) {
            twice.push_back(value);
        }
    }
    return twice;
}

}  // namespace

std::vector<std::int32_t> in_java_order(const std::vector<std::int32_t>& numbers) {
    return in_java_order(numbers, 16, [](std::int32_t number) { return number; });
}
std::vector<TopicPartition> in_java_order(std::vector<TopicPartition> partitions) {
    return in_java_order(std::move(partitions), 16, [](const TopicPartition& partition) { return java_hash(partition); });
}
std::vector<Replica> in_java_order(std::vector<Replica> replicas) {
    const auto hash = [](const Replica& replica) {
        std::uint32_t sum = 31 + static_cast<std::uint32_t>(java_hash(replica.partition.topic));
        sum = 31 * sum + static_cast<std::uint32_t>(replica.partition.partition);
        return static_cast<std::int32_t>(31 * sum + static_cast<std::uint32_t>(replica.broker));
    };
    const std::size_t capacity = capacity_of_copy(replicas.size());
    return in_java_order(std::move(replicas), capacity, hash);
}

Outcome<ReassignmentPlan> parse_reassignment_plan(const std::string& text) {
    if (text.empty()) {
        return failed("The input string shouldn't be empty");
    }
    const json root = first_value(text);
    if (root.is_discarded()) {
        return failed("The input string is not a valid JSON");
    }
    PARTITA_TRY_ASSIGN(const json* partitions, elements(root, "partitions"));
    ReassignmentPlan plan;
    if (partitions == nullptr) {
        return plan;
    }
    for (const json& element : *partitions) {
        PARTITA_TRY_ASSIGN(const json* topic_field, get(element, "topic"));
        PARTITA_TRY_ASSIGN(auto topic, string(*topic_field));
        PARTITA_TRY_ASSIGN(const json* partition_field, get(element, "partition"));
        PARTITA_TRY_ASSIGN(const std::int32_t index, integer(*partition_field));
        PARTITA_TRY_ASSIGN(const json* replicas_field, get(element, "replicas"));
        PARTITA_TRY_ASSIGN(auto replicas, list(*replicas_field, integer));
        PARTITA_TRY_ASSIGN(const json* directories_field, find(element, "log_dirs"));
        std::vector<std::string> directories(replicas.size(), std::string(kAnyDirectory));
        if (directories_field != nullptr) {
            PARTITA_TRY_ASSIGN(directories, list(*directories_field, string));
        }
        const TopicPartition partition{std::move(topic), index};
        if (replicas.size() != directories.size()) {
            return failed("Size of replicas list [" + list_text(replicas, ", ", text_of_number) +
                          "] is different from size of log dirs list [" + list_text(directories, ", ", text_of_word) +
                          "] for partition " + client::to_string(partition));
        }
        for (std::size_t i = 0; i < replicas.size(); ++i) {
            if (directories[i] != kAnyDirectory) {
                plan.directories[{replicas[i], partition}] = directories[i];
            }
        }
        plan.partitions.emplace_back(partition, std::move(replicas));
    }
    return plan;
}

Outcome<Assignment> assignment_of(const ReassignmentPlan& plan) {
    if (plan.partitions.empty()) {
        return failed("Partition reassignment list cannot be empty");
    }
    std::vector<TopicPartition> partitions;
    std::vector<std::string> repeating;
    for (const auto& [partition, replicas] : plan.partitions) {
        if (replicas.empty()) {
            return failed("Partition replica list cannot be empty");
        }
        partitions.push_back(partition);
        if (const auto twice = repeated(replicas); !twice.empty()) {
            repeating.push_back(client::to_string(partition) + " contains multiple entries for " +
                                list_text(in_java_order(twice), ",", text_of_number));
        }
    }
    if (auto twice = repeated(partitions); !twice.empty()) {
        return failed("Partition reassignment contains duplicate topic partitions: " +
                      list_text(in_java_order(std::move(twice)), ",", text_of_partition));
    }
    if (!repeating.empty()) {
        return failed("Partition replica lists may not contain duplicate entries: " + joined(repeating, ". "));
    }
    return Assignment(plan.partitions.begin(), plan.partitions.end());
}

Outcome<std::vector<std::string>> parse_topics_to_move(const std::string& text) {
    const json root = first_value(text);
    if (root.is_discarded()) {
        return failed("The input string is not a valid JSON");
    }
    PARTITA_TRY_ASSIGN(const json* fields, elements(root, "topics"));
    std::vector<std::string> topics;
    if (fields == nullptr) {
        return topics;
    }
    for (const json& element : *fields) {
        PARTITA_TRY_ASSIGN(const json* field, get(element, "topic"));
        PARTITA_TRY_ASSIGN(auto topic, string(*field));
        topics.push_back(std::move(topic));
    }
    if (const auto twice = repeated(topics); !twice.empty()) {
        return failed("List of topics to reassign contains duplicate entries: [" + joined(in_java_order(twice), ", ") + "]");
    }
    return topics;
}

Outcome<std::set<std::int32_t>> parse_broker_list(const std::string& text) {
    std::vector<std::string> words = split(text, ',');
    // Java's split drops empty words at the end, unless there is no separator.
    while (words.size() > 1 && words.back().empty()) {
        words.pop_back();
    }
    if (words.size() == 1 && words.front().empty() && !text.empty()) {
        words.clear();
    }
    std::vector<std::int32_t> brokers;
    for (const std::string& word : words) {
        const auto id = parse_integer(word);
        if (!id || *id != static_cast<std::int32_t>(*id)) {
            return failed("For input string: \"" + word + "\"");
        }
        brokers.push_back(static_cast<std::int32_t>(*id));
    }
    if (const auto twice = repeated(brokers); !twice.empty()) {
        return failed("Broker list contains duplicate entries: [" + list_text(in_java_order(twice), ", ", text_of_number) + "]");
    }
    return std::set<std::int32_t>(brokers.begin(), brokers.end());
}

std::string plan_text(const Assignment& assignment, const Directories& directories) {
    ordered_json partitions = ordered_json::array();
    for (const auto& [partition, replicas] : assignment) {
        ordered_json places = ordered_json::array();
        for (const std::int32_t broker : replicas) {
            const auto found = directories.find({broker, partition});
            places.push_back(found == directories.end() ? std::string(kAnyDirectory) : found->second);
        }
        ordered_json one;
        one["topic"] = partition.topic;
        one["partition"] = partition.partition;
        one["replicas"] = replicas;
        one["log_dirs"] = std::move(places);
        partitions.push_back(std::move(one));
    }
    ordered_json plan;
    plan["version"] = kVersion1;
    plan["partitions"] = std::move(partitions);
    return text_of(plan);
}

Moves moves_of(const std::map<TopicPartition, client::Reassignment>& ongoing, const Assignment& proposed,
               const Assignment& current) {
    Moves moves;
    for (const auto& [partition, reassignment] : ongoing) {
        PartitionMove& move = moves[partition.topic][partition.partition];
        move.destinations.insert(reassignment.adding.begin(), reassignment.adding.end());
        for (const std::int32_t broker : reassignment.replicas) {
            if (!move.destinations.contains(broker)) {
                move.sources.insert(broker);
            }
        }
    }
    for (const auto& [partition, replicas] : proposed) {
        auto& of_topic = moves[partition.topic];
        const bool is_under_way = of_topic.contains(partition.partition);
        PartitionMove& move = of_topic[partition.partition];
        if (!is_under_way) {
            const auto& now = current.at(partition);
            move.sources.insert(now.begin(), now.end());
        }
        move.destinations.clear();
        for (const std::int32_t broker : replicas) {
            if (!move.sources.contains(broker)) {
                move.destinations.insert(broker);
            }
        }
    }
    return moves;
}

namespace {

std::string throttled(const std::map<std::int32_t, PartitionMove>& moves, std::set<std::int32_t> PartitionMove::* side) {
    // Sorted as text, as Kafka does.
    std::set<std::string> words;
    for (const auto& [partition, move] : moves) {
        for (const std::int32_t broker : move.*side) {
            words.insert(std::to_string(partition) + ":" + std::to_string(broker));
        }
    }
    return joined({words.begin(), words.end()}, ",");
}

}  // namespace

std::string throttled_leaders(const std::map<std::int32_t, PartitionMove>& moves) {
    return throttled(moves, &PartitionMove::sources);
}

std::string throttled_followers(const std::map<std::int32_t, PartitionMove>& moves) {
    return throttled(moves, &PartitionMove::destinations);
}

std::set<std::int32_t> brokers_of(const Moves& moves) {
    std::set<std::int32_t> brokers;
    for (const auto& [topic, of_topic] : moves) {
        for (const auto& [partition, move] : of_topic) {
            brokers.insert(move.sources.begin(), move.sources.end());
            brokers.insert(move.destinations.begin(), move.destinations.end());
        }
    }
    return brokers;
}

}  // namespace partita::tools
