#include "broker/config/config_definition.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "broker/config/addition.h"
#include "broker/config/broker_synonyms.h"
#include "broker/config/definition_tables.h"
#include "protocol/assert.h"

namespace partita::config {

namespace {

std::vector<ConfigDefinition> joined_broker_definitions() {
    std::vector<ConfigDefinition> all;
    for (const std::span<const ConfigDefinition> subject :
         {cluster_definitions(), network_definitions(), security_definitions(), quota_definitions(), log_definitions(),
          remote_log_definitions(), replication_definitions(), group_definitions(), share_group_definitions(),
          transaction_definitions(), partita_definitions()}) {
        all.insert(all.end(), subject.begin(), subject.end());
    }
    for (const Addition* addition : additions()) {
        all.insert(all.end(), addition->broker.begin(), addition->broker.end());
    }
    std::ranges::sort(all, {}, &ConfigDefinition::name);
    PARTITA_ASSERT(std::ranges::adjacent_find(all, {}, &ConfigDefinition::name) == all.end(), "no config is defined twice");
    return all;
}

std::span<const ConfigSynonym> synonyms_of(std::string_view topic_config) {
    using enum SynonymConversion;
    static const std::map<std::string_view, std::vector<ConfigSynonym>> kSynonyms = {
        {"cleanup.policy", {{"log.cleanup.policy"}}},
        {"compression.gzip.level", {{"compression.gzip.level"}}},
        {"compression.lz4.level", {{"compression.lz4.level"}}},
        {"compression.type", {{"compression.type"}}},
        {"compression.zstd.level", {{"compression.zstd.level"}}},
        {"delete.retention.ms", {{"log.cleaner.delete.retention.ms"}}},
        {"file.delete.delay.ms", {{"log.segment.delete.delay.ms"}}},
        {"flush.messages", {{"log.flush.interval.messages"}}},
        {"flush.ms", {{"log.flush.interval.ms"}, {"log.flush.scheduler.interval.ms"}}},
        {"index.interval.bytes", {{"log.index.interval.bytes"}}},
        {"local.retention.bytes", {{"log.local.retention.bytes"}}},
        {"local.retention.ms", {{"log.local.retention.ms"}}},
        {"max.compaction.lag.ms", {{"log.cleaner.max.compaction.lag.ms"}}},
        {"max.message.bytes", {{"message.max.bytes"}}},
        {"message.timestamp.after.max.ms", {{"log.message.timestamp.after.max.ms"}}},
        {"message.timestamp.before.max.ms", {{"log.message.timestamp.before.max.ms"}}},
        {"message.timestamp.type", {{"log.message.timestamp.type"}}},
        {"min.cleanable.dirty.ratio", {{"log.cleaner.min.cleanable.ratio"}}},
        {"min.compaction.lag.ms", {{"log.cleaner.min.compaction.lag.ms"}}},
        {"min.insync.replicas", {{"min.insync.replicas"}}},
        {"partita.expansion.fence.timeout.ms", {{"partita.default.expansion.fence.timeout.ms"}}},
        {"partita.expansion.guard.quiet.ms", {{"partita.default.expansion.guard.quiet.ms"}}},
        {"partita.expansion.mode", {{"partita.default.expansion.mode"}}},
        {"partita.expansion.window.ms", {{"partita.default.expansion.window.ms"}}},
        {"preallocate", {{"log.preallocate"}}},
        {"retention.bytes", {{"log.retention.bytes"}}},
        {"retention.ms", {{"log.retention.ms"}, {"log.retention.minutes", minutes_to_ms}, {"log.retention.hours", hours_to_ms}}},
        {"segment.bytes", {{"log.segment.bytes"}}},
        {"segment.index.bytes", {{"log.index.size.max.bytes"}}},
        {"segment.jitter.ms", {{"log.roll.jitter.ms"}, {"log.roll.jitter.hours", hours_to_ms}}},
        {"segment.ms", {{"log.roll.ms"}, {"log.roll.hours", hours_to_ms}}},
        {"unclean.leader.election.enable", {{"unclean.leader.election.enable"}}},
    };
    const auto found = kSynonyms.find(topic_config);
    if (found == kSynonyms.end()) {
        return {};
    }
    return found->second;
}

/// Keeps the text for the program's life.
std::optional<std::string_view> kept_text(std::optional<std::string> text) {
    static std::deque<std::string> texts;
    return text ? std::optional<std::string_view>(texts.emplace_back(std::move(*text))) : std::nullopt;
}

}  // namespace

std::span<const ConfigDefinition> broker_config_definitions() {
    static const std::vector<ConfigDefinition> kAll = joined_broker_definitions();
    return kAll;
}

std::span<const TopicConfigDefinition> topic_config_definitions() {
    static const std::vector<TopicConfigDefinition> kAll = [] {
        std::vector<TopicConfigDefinition> all;
        for (const ConfigDefinition& definition : topic_definitions()) {
            all.push_back({definition, synonyms_of(definition.name)});
        }
        for (const Addition* addition : additions()) {
            all.insert(all.end(), addition->topic.begin(), addition->topic.end());
        }
        std::ranges::sort(all, {}, [](const TopicConfigDefinition& topic) { return topic.definition.name; });
        for (TopicConfigDefinition& topic : all) {
            if (!topic.broker_synonyms.empty()) {
                topic.definition.default_value = kept_text(config_value_text(topic_value_from_broker(topic, {})));
            }
        }
        return all;
    }();
    return kAll;
}

const ConfigDefinition* find_broker_config(std::string_view name) {
    // A start looks up more than a thousand names, many with long common prefixes; a binary search took 0.2 ms of the start.
    static const std::unordered_map<std::string_view, const ConfigDefinition*> kByName = [] {
        std::unordered_map<std::string_view, const ConfigDefinition*> by_name;
        by_name.reserve(broker_config_definitions().size());
        for (const ConfigDefinition& definition : broker_config_definitions()) {
            by_name.emplace(definition.name, &definition);
        }
        return by_name;
    }();
    const auto found = kByName.find(name);
    return found != kByName.end() ? found->second : nullptr;
}

const TopicConfigDefinition* find_topic_config(std::string_view name) {
    const std::span<const TopicConfigDefinition> all = topic_config_definitions();
    const auto name_of = [](const TopicConfigDefinition& topic) { return topic.definition.name; };
    const auto found = std::ranges::lower_bound(all, name, {}, name_of);
    return found != all.end() && found->definition.name == name ? &*found : nullptr;
}

}  // namespace partita::config
