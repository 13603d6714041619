#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"

namespace partita::config {

/// The names under which a broker config can be given, in falling precedence: the chains of
/// log.retention, log.roll, log.roll.jitter and log.flush.interval.ms, and for "listener.name.X.key" the
/// key without its listener. Otherwise the name alone.
[[nodiscard]] std::vector<std::string> broker_config_names(std::string_view name, bool match_listener_override);

/// The key without "listener.name.X." when it has that prefix, else empty.
[[nodiscard]] std::string_view listener_override_key(std::string_view name);

/// Given values with the dynamic ones over them. As in Kafka a dynamic value hides the static values of
/// all its other names: log.retention.ms set at run time beats log.retention.minutes of the file.
[[nodiscard]] ConfigMap effective_broker_values(const ConfigMap& given, const DynamicBrokerConfigs& dynamic);

/// The value of a defined config among effective values, or its default. The values were checked before.
[[nodiscard]] ConfigValue broker_value(const ConfigMap& effective, std::string_view name);

/// The items of a list config; none when it is null.
[[nodiscard]] std::vector<std::string> broker_list(const ConfigMap& effective, std::string_view name);

/// The value that a topic takes from its broker; null when it has no broker config.
[[nodiscard]] ConfigValue topic_value_from_broker(const TopicConfigDefinition& topic, const ConfigMap& effective);

/// Type of a broker config, also of listener overrides; unknown for names nobody defines.
[[nodiscard]] ConfigType broker_config_type(std::string_view name);

}  // namespace partita::config
