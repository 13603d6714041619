#pragma once

#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"

namespace partita::config {

/// Parsed values of all topic configs: the topic's own, else the broker's, else the default.
using TopicValues = std::map<std::string_view, ConfigValue>;

/// An addon's configs and rules. Each addon that has some defines one constant of this type, `partita::NAME::kConfigAddition` in
/// broker/addons/NAME/config/addition.cc; the build collects them in a list.
struct Addition {
    /// Added to the broker's own definitions. Every name must be unique.
    std::span<const ConfigDefinition> broker = {};
    /// Added to the definitions of topics.
    std::span<const TopicConfigDefinition> topic = {};
    /// Adds derived configs to those given at the start, before any check.
    void (*add_presets)(ConfigMap& given) = nullptr;
    /// Rules between configs of the broker, as in check_broker_values. `effective` has valid values.
    std::expected<void, ConfigError> (*check)(const ConfigMap& effective) = nullptr;
    /// Rules between configs of a topic, as in validate_topic_configs.
    std::expected<void, ConfigError> (*check_topic)(const TopicValues& values, const BrokerConfig& broker) = nullptr;
    /// Limits of topics; null for none. `effective` has passed all checks.
    std::optional<TopicLimits> (*topic_limits)(const ConfigMap& effective) = nullptr;
};

/// The additions of this build, in the order of their use; empty in a build without addons.
[[nodiscard]] std::span<const Addition* const> additions();

}  // namespace partita::config
