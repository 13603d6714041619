#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"
#include "broker/config/describe_configs.h"

/// Configs of groups (KIP-848, KIP-1240): kafka-configs --entity-type groups sets them for one group in place of the broker's
/// `group.*` configs. The broker stores and describes those of streams groups, but they have no effect.
namespace partita::config {

struct GroupConfigDefinition {
    ConfigDefinition definition;
    /// The broker config that applies if the group has no value; empty if the definition's default applies.
    std::string_view broker_config;
    /// Broker configs that limit the value; empty for no limit.
    std::string_view minimum_config;
    std::string_view maximum_config;
};

/// Ascending by name.
[[nodiscard]] std::span<const GroupConfigDefinition> group_config_definitions();
/// Null if the name is unknown.
[[nodiscard]] const GroupConfigDefinition* find_group_config(std::string_view name);

/// Checks a complete set of configs of a group. The error is INVALID_CONFIG with Kafka's text for unknown names, values out of
/// bounds, and a session timeout that does not exceed the heartbeat interval. The broker's value replaces a missing one of the
/// two.
[[nodiscard]] std::expected<void, ConfigError> validate_group_configs(const ConfigMap& overrides, const BrokerConfig& broker);

/// The value in force for a group: its own, else the broker's, else the default. A stored value outside the broker's present
/// bounds is clamped. `name` must be defined.
[[nodiscard]] ConfigValue group_config_value(const ConfigMap& overrides, const BrokerConfig& broker, std::string_view name);

/// Where a share group begins in a partition that it has not read yet (`share.auto.offset.reset`).
struct OffsetReset {
    enum class Kind : std::uint8_t { earliest, latest, by_duration };
    Kind kind = Kind::latest;
    /// How long ago the first record may have been written; for `by_duration`.
    std::int64_t duration_ms = 0;
};
/// "earliest", "latest" or "by_duration:" and a duration of ISO 8601 such as P1DT2H or PT0.5S; empty for every other text.
[[nodiscard]] std::optional<OffsetReset> parse_offset_reset(std::string_view text);

/// Configs of a group, which need not exist, ascending by name.
[[nodiscard]] std::vector<ConfigEntry> describe_group_configs(const ConfigMap& overrides, const BrokerConfig& broker,
                                                              const DescribeOptions& options);

}  // namespace partita::config
