#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"
#include "broker/config/describe_configs.h"

/// Configs of groups (KIP-848, KIP-1240): what kafka-configs --entity-type groups sets for one group in place of the
/// broker's `group.*` configs. Those of share and streams groups are kept and described only.
namespace partita::config {

struct GroupConfigDefinition {
    ConfigDefinition definition;
    /// The broker config that counts without an own value; empty where the definition's default does.
    std::string_view broker_config;
    /// Broker configs that bound the value; empty for no bound.
    std::string_view minimum_config;
    std::string_view maximum_config;
};

/// Ascending by name.
[[nodiscard]] std::span<const GroupConfigDefinition> group_config_definitions();
/// Null when there is no such config.
[[nodiscard]] const GroupConfigDefinition* find_group_config(std::string_view name);

/// Judges a complete set of configs of a group. Unknown names, values out of bounds, and a session timeout that does not
/// exceed the heartbeat interval (the broker's value counts for what is not given) are INVALID_CONFIG with Kafka's texts.
[[nodiscard]] std::expected<void, ConfigError> validate_group_configs(const ConfigMap& overrides,
                                                                      const BrokerConfig& broker);

/// What counts for a group: its own value, else the broker's, else the default. A value of an older day that lies beyond
/// the broker's present bounds is brought within them. `name` must be defined.
[[nodiscard]] ConfigValue group_config_value(const ConfigMap& overrides, const BrokerConfig& broker,
                                             std::string_view name);

/// Configs of a group, which need not exist, ascending by name.
[[nodiscard]] std::vector<ConfigEntry> describe_group_configs(const ConfigMap& overrides, const BrokerConfig& broker,
                                                              const DescribeOptions& options);

}  // namespace partita::config
