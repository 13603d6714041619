#include "broker/assembly/first_topics.h"

#include <limits>
#include <string>
#include <vector>

#include "broker/config/java_text.h"
#include "broker/config/log_setup.h"
#include "broker/runtime/catalog/catalog.h"
#include "protocol/try.h"

namespace partita::assembly {
namespace {

struct FirstTopic {
    std::string name;
    std::int32_t partitions = 0;
    std::int16_t replicas = 0;
    std::string cleanup_policy;
};

std::expected<FirstTopic, runtime::StartError> parse_topic(const std::string& item) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= item.size();) {
        const std::size_t end = std::min(item.find(':', at), item.size());
        parts.emplace_back(config::java::trim(std::string_view(item).substr(at, end - at)));
        at = end + 1;
    }
    parts.resize(std::max<std::size_t>(parts.size(), 3));
    const auto number = [](const std::string& text, std::int64_t largest) {
        // Both may be missing.
        return text.empty() ? std::optional<std::int64_t>(-1) : config::java::parse_integer(text, 1, largest);
    };
    const auto partitions = number(parts[1], std::numeric_limits<std::int32_t>::max());
    const auto replicas = number(parts[2], std::numeric_limits<std::int16_t>::max());
    if (parts.size() > 4 || parts[0].empty() || !partitions || !replicas) {
        return std::unexpected(runtime::StartError{"partita.create.topics (KAFKA_CREATE_TOPICS) has the item " + item +
                                                   ": it must be NAME:PARTITIONS:REPLICAS or "
                                                   "NAME:PARTITIONS:REPLICAS:CLEANUP_POLICY"});
    }
    return FirstTopic{.name = parts[0],
                      .partitions = static_cast<std::int32_t>(*partitions),
                      .replicas = static_cast<std::int16_t>(*replicas),
                      .cleanup_policy = parts.size() > 3 ? parts[3] : std::string()};
}

}  // namespace

std::expected<void, runtime::StartError> make_first_topics(const config::BrokerConfig& config, runtime::Catalog& catalog,
                                                           Now now) {
    std::vector<FirstTopic> topics;
    for (const std::string& item : config::java::split_list(std::get<std::string>(config.value("partita.create.topics")))) {
        if (!item.empty()) {
            PARTITA_TRY_ASSIGN(auto topic, parse_topic(item));
            topics.push_back(std::move(topic));
        }
    }
    runtime::Catalog::Section section(catalog);
    for (const FirstTopic& topic : topics) {
        if (section.snapshot().find_topic(topic.name) != nullptr) {
            continue;
        }
        catalog::CreateTopics command;
        catalog::TopicToCreate& wanted = command.topics.emplace_back();
        wanted.name = topic.name;
        wanted.num_partitions = topic.partitions;
        wanted.replication_factor = topic.replicas;
        if (!topic.cleanup_policy.empty()) {
            wanted.configs.push_back({.name = "cleanup.policy", .value = topic.cleanup_policy});
        }
        const auto decision = section.decide(now, command);
        if (const catalog::CatalogError& error = decision.result.topics.front().error; error.failed()) {
            log::warning("catalog", "cannot create a topic of partita.create.topics",
                         {{"topic", topic.name}, {"error", error_name(error.code)}, {"reason", error.message.value_or("")}});
            continue;
        }
        if (!section.claim(decision.effects, now)) {
            return std::unexpected(runtime::StartError{"cannot create the topic " + topic.name +
                                                       " of partita.create.topics: a directory is in its way"});
        }
        if (!section.write(decision.effects, now)) {
            section.release_claims();
            return std::unexpected(
                runtime::StartError{"cannot create the topics of partita.create.topics, because the catalog cannot be written"});
        }
        section.publish(decision.effects, now);
        log::info("catalog", "created a topic of partita.create.topics", {{"topic", topic.name}});
    }
    return {};
}

}  // namespace partita::assembly
