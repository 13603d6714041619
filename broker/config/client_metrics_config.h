#pragma once

#include <expected>
#include <string_view>
#include <vector>

#include "broker/config/config_definition.h"
#include "broker/config/describe_configs.h"
#include "protocol/function_ref.h"

/// Configs of client metrics subscriptions (KIP-714). The broker stores and describes them. A broker without a metrics plugin
/// requests no metrics from clients, and this broker has none.
namespace partita::config {

/// Checks a complete set of configs of a subscription. `is_regex` says whether a pattern is a regular expression. The error is
/// INVALID_REQUEST for unknown names and intervals out of bounds, INVALID_CONFIG for the rest, with Kafka's texts.
[[nodiscard]] std::expected<void, ConfigError> validate_client_metrics_configs(std::string_view subscription,
                                                                               const ConfigMap& overrides,
                                                                               FunctionRef<bool(std::string_view)> is_regex);

/// Configs of a subscription, which need not exist, ascending by name.
[[nodiscard]] std::vector<ConfigEntry> describe_client_metrics_configs(const ConfigMap& overrides,
                                                                       const DescribeOptions& options);

}  // namespace partita::config
