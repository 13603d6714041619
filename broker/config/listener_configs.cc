#include "broker/config/listener_configs.h"

#include <utility>

#include "broker/config/broker_synonyms.h"
#include "broker/config/config_refusal.h"
#include "broker/config/java_text.h"

namespace partita::config {
namespace {

std::string prefix_of(std::string_view listener_name) { return "listener.name." + java::to_lower(listener_name) + "."; }

/// True for configs of logins and TLS, without a listener's prefix.
bool is_about_clients(std::string_view name) {
    return name.starts_with("sasl.") || name.starts_with("ssl.") || name == kPrincipalBuilder ||
           name == "connections.max.reauth.ms" || name == "connection.failed.authentication.delay.ms";
}

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

std::optional<std::string> ListenerConfigs::problem_with_class(std::string_view key, std::string_view known) const {
    const std::string given = string(key);
    if (given.empty() || given == known) {
        return std::nullopt;
    }
    return name_of(key) + "=" + given + " is not served; " + std::string(known) + " is";
}

std::string ListenerConfigs::name_of(std::string_view key) const {
    return (own_text(key) ? prefix_ : std::string()) + std::string(key);
}

ConfigMap values_about_clients(const BrokerConfig& broker, std::string_view listener_name) {
    ConfigMap values = effective_broker_values(broker.given(), broker.dynamic());
    const std::string prefix = prefix_of(listener_name);
    std::erase_if(values, [&](const auto& each) { return !each.first.starts_with(prefix) && !is_about_clients(each.first); });
    return values;
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
