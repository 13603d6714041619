#pragma once

#include <cstdint>
#include <expected>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"

namespace partita::config {

/// The brokers that a change of broker configs affects.
enum class BrokerScope : std::uint8_t { this_broker, cluster_default };

/// Checks a complete new set of dynamic configs of this broker or of all brokers, in its state after a change. `broker` has the
/// set before it. Errors and texts are those of Kafka 4.3.1.
[[nodiscard]] std::expected<void, ConfigError> validate_broker_configs(const BrokerConfig& broker, BrokerScope scope,
                                                                       const ConfigMap& overrides);

}  // namespace partita::config
