#include "broker/config/broker_synonyms.h"

#include <algorithm>
#include <utility>

#include "protocol/assert.h"

namespace partita::config {

namespace {

const std::vector<std::vector<std::string>>& chains() {
    static const std::vector<std::vector<std::string>> kChains = {
        {"log.roll.ms", "log.roll.hours"},
        {"log.roll.jitter.ms", "log.roll.jitter.hours"},
        {"log.retention.ms", "log.retention.minutes", "log.retention.hours"},
    };
    return kChains;
}

std::int64_t in_ms(const ConfigValue& value, SynonymConversion conversion) {
    const std::int64_t factor = conversion == SynonymConversion::hours_to_ms ? 3600000 : 60000;
    const auto* number = std::get_if<std::int32_t>(&value);
    PARTITA_ASSERT(number != nullptr, "only 32-bit configs stand for milliseconds in another unit");
    return std::int64_t{*number} * factor;
}

}  // namespace

std::string_view listener_override_key(std::string_view name) {
    constexpr std::string_view kPrefix = "listener.name.";
    if (!name.starts_with(kPrefix)) {
        return {};
    }
    const std::size_t dot = name.find('.', kPrefix.size());
    return dot == std::string_view::npos ? std::string_view{} : name.substr(dot + 1);
}

std::vector<std::string> broker_config_names(std::string_view name, bool match_listener_override) {
    for (const std::vector<std::string>& chain : chains()) {
        if (std::ranges::find(chain, name) != chain.end()) {
            return chain;
        }
    }
    if (name == "log.flush.interval.ms") {
        return {"log.flush.interval.ms", "log.flush.scheduler.interval.ms"};
    }
    if (const std::string_view key = listener_override_key(name); match_listener_override && !key.empty()) {
        // Settings of one SASL mechanism have its name between the listener and the key.
        for (const std::string_view mechanism : {"sasl.jaas.config", "sasl.login.callback.handler.class", "sasl.login.class",
                                                 "sasl.server.callback.handler.class", "connections.max.reauth.ms"}) {
            if (key.ends_with(mechanism)) {
                return {std::string(name), std::string(mechanism)};
            }
        }
        for (const std::string_view mechanism : {"gssapi.", "plain.", "scram-sha-256.", "scram-sha-512.", "oauthbearer."}) {
            if (key.starts_with(mechanism)) {
                return {std::string(name), std::string(key.substr(mechanism.size()))};
            }
        }
        return {std::string(name), std::string(key)};
    }
    return {std::string(name)};
}

ConfigMap effective_broker_values(const ConfigMap& given, const DynamicBrokerConfigs& dynamic) {
    ConfigMap effective = given;
    for (const ConfigMap* overrides : {&dynamic.cluster_default, &dynamic.this_broker}) {
        for (const auto& [name, value] : *overrides) {
            for (const std::string& other : broker_config_names(name, false)) {
                effective.erase(other);
            }
            effective.insert_or_assign(name, value);
        }
    }
    return effective;
}

ConfigValue broker_value(const ConfigMap& effective, std::string_view name) {
    const ConfigDefinition* definition = find_broker_config(name);
    if (definition == nullptr) {
        return {};
    }
    if (const auto found = effective.find(name); found != effective.end()) {
        if (auto parsed = parse_config_value(*definition, found->second)) {
            return *parsed;
        }
    }
    if (!definition->default_value) {
        return {};
    }
    auto parsed = parse_config_type(name, definition->type, *definition->default_value);
    PARTITA_ASSERT(parsed.has_value(), "defaults parse");
    return *parsed;
}

std::vector<std::string> broker_list(const ConfigMap& effective, std::string_view name) {
    ConfigValue value = broker_value(effective, name);
    auto* items = std::get_if<std::vector<std::string>>(&value);
    return items == nullptr ? std::vector<std::string>{} : std::move(*items);
}

ConfigValue topic_value_from_broker(const TopicConfigDefinition& topic, const ConfigMap& effective) {
    for (const ConfigSynonym& synonym : topic.broker_synonyms) {
        ConfigValue value = broker_value(effective, synonym.broker_config);
        if (std::holds_alternative<std::monostate>(value)) {
            continue;
        }
        if (synonym.conversion != SynonymConversion::none) {
            value = in_ms(value, synonym.conversion);
        }
        // Every negative retention of a broker means "for ever"; the topic config for that is -1.
        if (topic.definition.name == "retention.ms" && std::get<std::int64_t>(value) < 0) {
            value = std::int64_t{-1};
        }
        return value;
    }
    return {};
}

ConfigType broker_config_type(std::string_view name) {
    for (const std::string& candidate : broker_config_names(name, true)) {
        if (const ConfigDefinition* definition = find_broker_config(candidate);
            definition != nullptr && (candidate == name || !listener_override_key(name).empty())) {
            return definition->type;
        }
    }
    return ConfigType::unknown;
}

}  // namespace partita::config
