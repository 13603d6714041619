#pragma once

#include <cstdint>
#include <expected>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"

namespace partita::config {

/// The brokers that a change of broker configs affects.
enum class BrokerScope : std::uint8_t { this_broker, cluster_default };

/// Checks the complete dynamic configs that this broker, or the default of all, would have after a change. `broker` has those
/// before the change. Errors and texts are those of Kafka 4.3.1.
[[nodiscard]] std::expected<void, ConfigError> validate_broker_configs(const BrokerConfig& broker, BrokerScope scope,
                                                                       const ConfigMap& overrides);

}  // namespace partita::config
