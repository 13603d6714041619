#include "broker/config/listener_configs.h"

#include <utility>

#include "broker/config/broker_synonyms.h"
#include "broker/config/config_refusal.h"
#include "broker/config/java_text.h"

namespace partita::config {
namespace {

std::string prefix_of(std::string_view listener_name) { return "listener.name." + java::to_lower(listener_name) + "."; }

}  // namespace

ListenerConfigs::ListenerConfigs(const BrokerConfig& broker, std::string_view listener_name)
    : ListenerConfigs(effective_broker_values(broker.given(), broker.dynamic()), listener_name) {}

ListenerConfigs::ListenerConfigs(ConfigMap effective, std::string_view listener_name)
    : effective_(std::move(effective)), prefix_(prefix_of(listener_name)) {}

std::optional<std::string> ListenerConfigs::own_text(std::string_view key) const {
    const auto found = effective_.find(prefix_ + std::string(key));
    return found == effective_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> ListenerConfigs::text(std::string_view key) const {
    if (auto own = own_text(key)) {
        return own;
    }
    const auto found = effective_.find(key);
    return found == effective_.end() ? std::nullopt : std::optional(found->second);
}

ConfigValue ListenerConfigs::value(std::string_view key) const {
    const ConfigDefinition* definition = find_broker_config(key);
    if (definition == nullptr) {
        return {};
    }
    if (const auto own = own_text(key)) {
        if (auto parsed = parse_config_value(*definition, *own)) {
            return std::move(*parsed);
        }
    }
    return broker_value(effective_, key);
}

std::string ListenerConfigs::string(std::string_view key) const { return config_value_text(value(key)).value_or(""); }

std::string ListenerConfigs::name_of(std::string_view key) const {
    return (own_text(key) ? prefix_ : std::string()) + std::string(key);
}

std::expected<void, ConfigError> check_listener_overrides(const ConfigMap& effective, std::string_view listener_name) {
    const std::string prefix = prefix_of(listener_name);
    for (auto each = effective.lower_bound(prefix); each != effective.end() && each->first.starts_with(prefix); ++each) {
        ConfigDefinition named;
        if (const ConfigDefinition* definition = find_broker_config(each->first.substr(prefix.size()))) {
            named = *definition;
            named.name = each->first;
            if (auto parsed = parse_config_value(named, each->second); !parsed) {
                return invalid_config(parsed.error().message);
            }
        }
    }
    return {};
}

}  // namespace partita::config
