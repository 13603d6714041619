#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"
#include "broker/config/describe_configs.h"

/// Configs of groups (KIP-848, KIP-1240): kafka-configs --entity-type groups sets them for one group in place of the broker's
/// `group.*` configs. Those of share and streams groups are kept and described, but have no effect.
namespace partita::config {

struct GroupConfigDefinition {
    ConfigDefinition definition;
    /// The broker config that counts when the group has no value; empty where the definition's default counts.
    std::string_view broker_config;
    /// Broker configs that bound the value; empty for no bound.
    std::string_view minimum_config;
    std::string_view maximum_config;
};

/// Ascending by name.
[[nodiscard]] std::span<const GroupConfigDefinition> group_config_definitions();
/// Null when there is no such config.
[[nodiscard]] const GroupConfigDefinition* find_group_config(std::string_view name);

/// Checks a complete set of configs of a group. The error is INVALID_CONFIG with Kafka's text for unknown names, values out of
/// bounds, and a session timeout that does not exceed the heartbeat interval (the broker's value counts for one that is not
/// given).
[[nodiscard]] std::expected<void, ConfigError> validate_group_configs(const ConfigMap& overrides, const BrokerConfig& broker);

/// The value in force for a group: its own, else the broker's, else the default. An older value outside of the broker's present
/// bounds is brought within them. `name` must be defined.
[[nodiscard]] ConfigValue group_config_value(const ConfigMap& overrides, const BrokerConfig& broker, std::string_view name);

/// Configs of a group, which need not exist, ascending by name.
[[nodiscard]] std::vector<ConfigEntry> describe_group_configs(const ConfigMap& overrides, const BrokerConfig& broker,
                                                              const DescribeOptions& options);

}  // namespace partita::config
