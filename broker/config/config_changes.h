#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"
#include "broker/config/topic_config.h"

namespace partita::config {

/// Operations of IncrementalAlterConfigs with their numbers on the wire.
enum class AlterOperation : std::int8_t { set = 0, remove = 1, append = 2, subtract = 3 };

struct ConfigChange {
    std::string name;
    AlterOperation operation = AlterOperation::set;
    std::optional<std::string> value;
};

/// Applies the changes of one topic (IncrementalAlterConfigs) to its overrides, all or none, and returns the new overrides.
/// Errors and texts are those of Kafka 4.3.1.
[[nodiscard]] std::expected<ConfigMap, ConfigError> alter_topic_configs(const ConfigMap& overrides,
                                                                        std::span<const ConfigChange> changes,
                                                                        const BrokerConfig& broker);

/// Which brokers a change of broker configs is for.
enum class BrokerScope : std::uint8_t { this_broker, cluster_default };

/// Applies the changes to the dynamic configs of this broker or of all brokers: all or none.
[[nodiscard]] std::expected<DynamicBrokerConfigs, ConfigError> alter_broker_configs(const BrokerConfig& broker, BrokerScope scope,
                                                                                    std::span<const ConfigChange> changes);

/// Checks a complete new set of dynamic configs of this broker or of all brokers, as it would be after a change. Errors and
/// texts are those of `alter_broker_configs`. For callers that apply the changes themselves.
[[nodiscard]] std::expected<void, ConfigError> validate_broker_configs(const BrokerConfig& broker, BrokerScope scope,
                                                                       const ConfigMap& overrides);

}  // namespace partita::config
