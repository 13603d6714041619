#include "broker/config/describe_configs.h"

#include <algorithm>
#include <set>

#include "broker/config/broker_synonyms.h"

namespace partita::config {

namespace {

// A synonym's value: the given text, or the canonical text of a default.
std::optional<std::string> shown(const std::optional<std::string>& text, bool sensitive) {
    return sensitive ? std::nullopt : text;
}

// All sources that give `names` a value: source by source, and within each by falling precedence of the names. Kafka drops those
// before the first one with the requested name, and so does this function. A base config is therefore not described by overrides
// of a listener. Oddly, retention.ms of a topic shows nothing if only log.retention.hours is set, because its main name is
// log.retention.ms.
std::vector<SynonymEntry> broker_synonyms(const BrokerConfig& broker, std::string_view name, bool sensitive) {
    const std::vector<std::string> names = broker_config_names(name, true);
    std::vector<SynonymEntry> entries;
    const auto add = [&](const ConfigMap& place, ConfigSource source) {
        for (const std::string& candidate : names) {
            if (const auto found = place.find(candidate); found != place.end()) {
                entries.push_back({candidate, shown(found->second, sensitive), source});
            }
        }
    };
    add(broker.dynamic().this_broker, ConfigSource::dynamic_broker_config);
    add(broker.dynamic().cluster_default, ConfigSource::dynamic_default_broker_config);
    add(broker.given(), ConfigSource::static_broker_config);
    for (const std::string& candidate : names) {
        const ConfigDefinition* definition = find_broker_config(candidate);
        // If Kafka requires a value, describe our default only while it is in effect.
        const bool replaced = definition != nullptr && definition->required && broker.given().contains(candidate);
        if (definition != nullptr && definition->default_value && !definition->internal && !replaced) {
            entries.push_back(
                {candidate, shown(std::string(*definition->default_value), sensitive), ConfigSource::default_config});
        }
    }
    const auto first = std::ranges::find(entries, name, &SynonymEntry::name);
    entries.erase(entries.begin(), first);
    return entries;
}

ConfigEntry topic_entry(const TopicConfigDefinition& topic, const ConfigMap& overrides, const ConfigMap& effective,
                        const BrokerConfig& broker, const DescribeOptions& options) {
    const ConfigDefinition& definition = topic.definition;
    ConfigEntry entry{.name = std::string(definition.name), .type = definition.type};
    const auto given = overrides.find(definition.name);
    ConfigValue value;
    if (given != overrides.end()) {
        if (auto parsed = parse_config_value(definition, given->second)) {
            value = std::move(*parsed);
        } else {
            value = given->second;  // From a catalog of another version: shown unchanged.
        }
    } else {
        value = topic_value_from_broker(topic, effective);
        if (std::holds_alternative<std::monostate>(value) && definition.default_value) {
            value = std::string(*definition.default_value);
        }
    }
    entry.value = config_value_text(value);
    std::vector<SynonymEntry> synonyms;
    if (!topic.broker_synonyms.empty()) {
        synonyms = broker_synonyms(broker, topic.broker_synonyms.front().broker_config, false);
    }
    if (given != overrides.end()) {
        synonyms.insert(synonyms.begin(), {entry.name, entry.value, ConfigSource::topic_config});
    }
    if (options.include_documentation) {
        entry.documentation = documentation_of(definition);
    }
    return with_synonyms(std::move(entry), std::move(synonyms), options);
}

ConfigEntry broker_entry(const ConfigMap& effective, std::string_view name, const DescribeOptions& options) {
    ConfigEntry entry{.name = std::string(name), .type = broker_config_type(name)};
    const ConfigDefinition* definition = find_broker_config(name);
    // Kafka treats unknown configs as sensitive, because they might contain secrets.
    entry.sensitive = entry.type == ConfigType::unknown || entry.type == ConfigType::password;
    entry.read_only = definition == nullptr || definition->update_mode == UpdateMode::read_only;
    if (!entry.sensitive) {
        if (definition != nullptr) {
            entry.value = config_value_text(broker_value(effective, name));
        } else if (const auto found = effective.find(name); found != effective.end()) {
            entry.value = found->second;
        }
    }
    if (options.include_documentation && definition != nullptr) {
        entry.documentation = documentation_of(*definition);
    }
    return entry;
}

}  // namespace

bool is_described(const DescribeOptions& options, std::string_view name) {
    return !options.names || std::ranges::find(*options.names, name) != options.names->end();
}

std::vector<SynonymEntry> describe_broker_synonyms(const BrokerConfig& broker, std::string_view name) {
    const ConfigDefinition* definition = find_broker_config(name);
    return broker_synonyms(broker, name, definition != nullptr && definition->is_sensitive());
}

ConfigEntry with_synonyms(ConfigEntry entry, std::vector<SynonymEntry> synonyms, const DescribeOptions& options) {
    entry.source = synonyms.empty() ? ConfigSource::default_config : synonyms.front().source;
    if (options.include_synonyms) {
        entry.synonyms = std::move(synonyms);
    }
    return entry;
}

std::vector<ConfigEntry> describe_topic_configs(const ConfigMap& overrides, const BrokerConfig& broker,
                                                const DescribeOptions& options) {
    const ConfigMap effective = effective_broker_values(broker.given(), broker.dynamic());
    std::vector<ConfigEntry> entries;
    for (const TopicConfigDefinition& topic : topic_config_definitions()) {
        const std::string_view name = topic.definition.name;
        if (is_described(options, name) && (!topic.definition.internal || overrides.contains(name))) {
            entries.push_back(topic_entry(topic, overrides, effective, broker, options));
        }
    }
    return entries;
}

std::vector<ConfigEntry> describe_broker_configs(const BrokerConfig& broker, const DescribeOptions& options,
                                                 const ConfigMap& places) {
    ConfigMap effective = effective_broker_values(broker.given(), broker.dynamic());
    effective.insert(places.begin(), places.end());
    std::set<std::string_view> names;
    for (const ConfigDefinition& definition : broker_config_definitions()) {
        if (!definition.internal) {
            names.insert(definition.name);
        }
    }
    for (const auto& [name, value] : effective) {
        names.insert(name);
    }
    std::vector<ConfigEntry> entries;
    for (const std::string_view name : names) {
        if (is_described(options, name)) {
            ConfigEntry entry = broker_entry(effective, name, options);
            std::vector<SynonymEntry> synonyms = broker_synonyms(broker, name, entry.sensitive);
            entries.push_back(with_synonyms(std::move(entry), std::move(synonyms), options));
        }
    }
    return entries;
}

std::vector<ConfigEntry> describe_default_broker_configs(const BrokerConfig& broker, const DescribeOptions& options) {
    std::vector<ConfigEntry> entries;
    for (const auto& [name, value] : broker.dynamic().cluster_default) {
        if (!is_described(options, name)) {
            continue;
        }
        ConfigEntry entry = broker_entry(broker.dynamic().cluster_default, name, options);
        // Here Kafka shows the stored text.
        entry.value = shown(value, entry.sensitive);
        std::vector<SynonymEntry> synonyms = broker_synonyms(broker, name, entry.sensitive);
        std::erase_if(synonyms,
                      [](const SynonymEntry& synonym) { return synonym.source != ConfigSource::dynamic_default_broker_config; });
        entries.push_back(with_synonyms(std::move(entry), std::move(synonyms), options));
    }
    return entries;
}

std::string documentation_of(const ConfigDefinition& definition) {
    return std::string(definition.documentation) + (definition.effect == ConfigEffect::kept ? " Stored without effect." : "");
}

}  // namespace partita::config
