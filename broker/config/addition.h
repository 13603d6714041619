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

/// What an addon brings to the configs. Each addon that has some defines one constant of this type,
/// `partita::NAME::kConfigAddition` in broker/addons/NAME/config/addition.cc; the build makes the list of them.
struct Addition {
    /// Joined to the broker's own. No name may be defined twice.
    std::span<const ConfigDefinition> broker = {};
    /// Joined to those of topics.
    std::span<const TopicConfigDefinition> topic = {};
    /// Adds to what was given at the start what follows from it, before anything is checked.
    void (*add_presets)(ConfigMap& given) = nullptr;
    /// Rules between configs of the broker, as in check_broker_values. `effective` has valid values.
    std::expected<void, ConfigError> (*check)(const ConfigMap& effective) = nullptr;
    /// Rules between configs of a topic, as in validate_topic_configs.
    std::expected<void, ConfigError> (*check_topic)(const TopicValues& values, const BrokerConfig& broker) = nullptr;
    /// What topics there may be; null for no limits. `effective` was checked.
    std::optional<TopicLimits> (*topic_limits)(const ConfigMap& effective) = nullptr;
};

/// Those of this build, in the order in which they are asked; none in a build without addons.
[[nodiscard]] std::span<const Addition* const> additions();

}  // namespace partita::config
