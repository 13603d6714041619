#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"

namespace partita::config {

/// The names that can set a broker config, in falling precedence. Chains exist for log.retention, log.roll, log.roll.jitter and
/// log.flush.interval.ms, and from "listener.name.X.key" to the key without its listener. Other configs have only their own name.
[[nodiscard]] std::vector<std::string> broker_config_names(std::string_view name, bool match_listener_override);

/// The key without "listener.name.X." if it has that prefix, else empty.
[[nodiscard]] std::string_view listener_override_key(std::string_view name);

/// The given values, overlaid by the dynamic ones. As in Kafka, a dynamic value hides the static values of all its synonyms:
/// log.retention.ms set at run time beats log.retention.minutes of the file.
[[nodiscard]] ConfigMap effective_broker_values(const ConfigMap& given, const DynamicBrokerConfigs& dynamic);

/// The value of a defined config among effective values, or its default. The values must have passed the checks.
[[nodiscard]] ConfigValue broker_value(const ConfigMap& effective, std::string_view name);

/// The items of a list config; empty if it is null.
[[nodiscard]] std::vector<std::string> broker_list(const ConfigMap& effective, std::string_view name);

/// The value that a topic takes from its broker; null if the definition has no broker config.
[[nodiscard]] ConfigValue topic_value_from_broker(const TopicConfigDefinition& topic, const ConfigMap& effective);

/// Type of a broker config, also of listener overrides; unknown for undefined names.
[[nodiscard]] ConfigType broker_config_type(std::string_view name);

}  // namespace partita::config
