#include "broker/addons/scenarios/core/topic_changes.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "broker/addons/scenarios/core/answer_members.h"
#include "broker/yaml/yaml.h"
#include "protocol/try.h"

namespace partita::scenarios {
namespace {

using nlohmann::ordered_json;
using WishKind = TopicWish::Kind;
using Wishes = std::expected<std::vector<TopicWish>, std::string>;
/// Null if the text has another form.
using WishesIfAny = std::expected<std::optional<std::vector<TopicWish>>, std::string>;

constexpr std::int64_t kPartitionsMax = INT32_MAX;

/// Kafka's rule for names of topics.
bool is_topic_name(std::string_view name) {
    constexpr std::size_t kLengthMax = 249;
    const auto is_allowed = [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
               letter == '.' || letter == '_' || letter == '-';
    };
    return !name.empty() && name.size() <= kLengthMax && name != "." && name != ".." && std::ranges::all_of(name, is_allowed);
}

std::expected<TopicWish, std::string> wish_of(const std::string& topic, const ordered_json& partitions,
                                              const std::string& where) {
    if (!is_topic_name(topic)) {
        return std::unexpected(where + ": " +
                               (topic.empty() ? std::string("a topic without a name") : "no topic can have the name " + topic));
    }
    const bool is_good =
        partitions.is_number_integer() && partitions.get<std::int64_t>() >= 1 && partitions.get<std::int64_t>() <= kPartitionsMax;
    if (!is_good) {
        return std::unexpected(where + ": topic " + topic + ": the number of partitions must be a whole number from 1 on");
    }
    return TopicWish{WishKind::count, topic, partitions.get<std::int32_t>(), where};
}

// Strimzi --------------------------------------------------------------------------------------------

/// Adds the wishes of a Kubernetes resource, or of a list of them.
std::expected<void, std::string> add_resource(const ordered_json& resource, const std::string& file,
                                              std::vector<TopicWish>& wishes) {
    const ordered_json& items = member(resource, "items");
    if (text_of(resource, "kind").ends_with("List") && items.is_array()) {
        for (const ordered_json& item : items) {
            PARTITA_TRY(add_resource(item, file, wishes));
        }
        return {};
    }
    if (text_of(resource, "kind") != "KafkaTopic") {
        return {};
    }
    const ordered_json& spec = member(resource, "spec");
    // Without a number the operator leaves it to the cluster.
    if (member(spec, "partitions").is_null()) {
        return {};
    }
    const std::string name = text_of(spec, "topicName");
    PARTITA_TRY_ASSIGN(auto wish, wish_of(name.empty() ? text_of(member(resource, "metadata"), "name") : name,
                                          member(spec, "partitions"), file));
    wishes.push_back(std::move(wish));
    return {};
}

// Terraform ------------------------------------------------------------------------------------------

/// A provider's resource of a topic.
struct Provider {
    std::string_view type;
    const char* name;
    const char* partitions;
};
constexpr Provider kProviders[] = {
    {"kafka_topic", "name", "partitions"},
    {"confluent_kafka_topic", "topic_name", "partitions_count"},
};

Wishes read_terraform(const ordered_json& plan, const std::string& file) {
    std::vector<TopicWish> wishes;
    const ordered_json& changes = member(plan, "resource_changes");
    if (!changes.is_array()) {
        return std::unexpected(file + ": resource_changes must be a list");
    }
    for (const ordered_json& one : changes) {
        const std::string type = text_of(one, "type");
        const auto* const provider = std::ranges::find(kProviders, type, &Provider::type);
        if (provider == std::end(kProviders) || text_of(one, "mode") == "data") {
            continue;
        }
        const ordered_json& change = member(one, "change");
        const ordered_json& actions = member(change, "actions");
        const auto has = [&](const char* action) {
            return actions.is_array() && std::ranges::find(actions, ordered_json(action)) != actions.end();
        };
        const ordered_json& before = member(change, "before");
        const ordered_json& after = member(change, "after");
        const std::string name = text_of(has("delete") ? before : after, provider->name);
        const ordered_json& count = member(after, provider->partitions);
        if (has("delete") && is_topic_name(name)) {
            wishes.push_back({has("create") ? WishKind::renewal : WishKind::removal, name, 0, file});
        } else if ((has("create") || has("update")) && count.is_null() && is_topic_name(name)) {
            wishes.push_back({WishKind::unknown, name, 0, file});
        } else if (has("create") || has("update")) {
            PARTITA_TRY_ASSIGN(auto wish, wish_of(name, count, file));
            wishes.push_back(std::move(wish));
        }
    }
    return wishes;
}

// Lines ----------------------------------------------------------------------------------------------

/// The words of a line, as a shell takes simple ones apart.
std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    bool is_open = false;
    char quote = 0;
    const auto finish = [&] {
        if (is_open) {
            words.push_back(std::exchange(word, {}));
        }
        is_open = false;
    };
    for (const char letter : line) {
        if (quote != 0) {
            quote = letter == quote ? '\0' : quote;
            word += quote != 0 ? std::string(1, letter) : std::string();
        } else if (letter == '"' || letter == '\'') {
            quote = letter;
            is_open = true;
        } else if (letter == ' ' || letter == '\t' || letter == '\r') {
            finish();
        } else if (letter == '#' && !is_open) {
            break;
        } else {
            word += letter;
            is_open = true;
        }
    }
    finish();
    return words;
}

bool is_tool(const std::vector<std::string>& words) {
    for (std::size_t index = 0; index < words.size(); ++index) {
        std::string_view word = words[index];
        word.remove_prefix(word.rfind('/') == std::string_view::npos ? 0 : word.rfind('/') + 1);
        if (word == "kafka-topics" || word == "kafka-topics.sh" ||
            (word == "partita" && index + 1 < words.size() && words[index + 1] == "topics")) {
            return true;
        }
    }
    return false;
}

/// The argument of --NAME or --NAME=, or empty.
std::string argument_of(const std::vector<std::string>& words, const std::string& name) {
    for (std::size_t index = 0; index < words.size(); ++index) {
        if (words[index] == name && index + 1 < words.size()) {
            return words[index + 1];
        }
        if (words[index].starts_with(name + "=")) {
            return words[index].substr(name.size() + 1);
        }
    }
    return {};
}

/// The logical lines: a backslash at the end of a line continues it.
std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines(1);
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::string_view rest = text.substr(at);
        if (rest.starts_with("\\\n")) {
            lines.back() += ' ';
            ++at;
        } else if (rest.front() == '\n') {
            lines.emplace_back();
        } else {
            lines.back() += rest.front();
        }
    }
    return lines;
}

WishesIfAny read_lines(std::string_view text, const std::string& file) {
    std::vector<TopicWish> wishes;
    bool has_tool = false;
    for (const std::string& line : lines_of(text)) {
        const std::vector<std::string> words = words_of(line);
        if (!is_tool(words)) {
            continue;
        }
        has_tool = true;
        const std::string count = argument_of(words, "--partitions");
        if (std::ranges::find(words, "--alter") == words.end() || count.empty()) {
            continue;
        }
        std::int64_t partitions = 0;
        const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), partitions);
        const bool is_number = error == std::errc() && end == count.data() + count.size();
        PARTITA_TRY_ASSIGN(auto wish,
                           wish_of(argument_of(words, "--topic"), is_number ? ordered_json(partitions) : ordered_json(), file));
        wishes.push_back(std::move(wish));
    }
    return has_tool ? std::optional(std::move(wishes)) : std::nullopt;
}

// Our own list ---------------------------------------------------------------------------------------

Wishes read_list(const ordered_json& topics, const std::string& file) {
    std::vector<TopicWish> wishes;
    for (const auto& [name, value] : topics.items()) {
        const ordered_json& count = value.is_object() ? member(value, "partitions") : value;
        if (count.is_null()) {
            continue;
        }
        PARTITA_TRY_ASSIGN(auto wish, wish_of(name, count, file));
        wishes.push_back(std::move(wish));
    }
    return wishes;
}

WishesIfAny read_documents(const std::vector<yaml::Document>& documents, const std::string& file) {
    std::vector<TopicWish> wishes;
    bool is_known = false;
    for (const yaml::Document& document : documents) {
        const ordered_json& value = document.value();
        if (!member(value, "resource_changes").is_null()) {
            return read_terraform(value, file);
        }
        if (member(value, "topics").is_object()) {
            return read_list(value["topics"], file);
        }
        if (!member(value, "kind").is_null()) {
            is_known = true;
            PARTITA_TRY(add_resource(value, file, wishes));
        }
    }
    return is_known ? std::optional(std::move(wishes)) : std::nullopt;
}

}  // namespace

std::expected<std::vector<TopicWish>, std::string> read_changes(std::string_view text, const std::string& file) {
    constexpr yaml::Limits kLimits{.bytes_max = kChangesBytesMax, .values_max = 2'000'000};
    const auto documents = yaml::parse_all(text, kLimits);
    std::optional<std::vector<TopicWish>> wishes;
    if (documents) {
        PARTITA_TRY_ASSIGN(wishes, read_documents(*documents, file));
    }
    // Much of what a shell reads is YAML, too: a text.
    if (!wishes) {
        PARTITA_TRY_ASSIGN(wishes, read_lines(text, file));
    }
    if (!wishes) {
        return std::unexpected(
            file + ": " +
            (documents ? "neither KafkaTopic resources, nor the JSON of a Terraform plan, nor lines of kafka-topics, nor "
                         "a mapping of topics"
                       : documents.error().text()));
    }
    if (wishes->size() > kChangesMax) {
        return std::unexpected(file + ": more than " + std::to_string(kChangesMax) + " topics");
    }
    return std::move(*wishes);
}

}  // namespace partita::scenarios
