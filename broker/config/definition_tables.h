#pragma once

#include <span>

#include "broker/config/config_definition.h"

/// The tables behind `broker_config_definitions`, one per subject, and behind `topic_config_definitions`; each ascending by name.
namespace partita::config {

[[nodiscard]] std::span<const ConfigDefinition> cluster_definitions();
[[nodiscard]] std::span<const ConfigDefinition> network_definitions();
[[nodiscard]] std::span<const ConfigDefinition> security_definitions();
[[nodiscard]] std::span<const ConfigDefinition> quota_definitions();
[[nodiscard]] std::span<const ConfigDefinition> log_definitions();
[[nodiscard]] std::span<const ConfigDefinition> remote_log_definitions();
[[nodiscard]] std::span<const ConfigDefinition> replication_definitions();
[[nodiscard]] std::span<const ConfigDefinition> group_definitions();
[[nodiscard]] std::span<const ConfigDefinition> share_group_definitions();
[[nodiscard]] std::span<const ConfigDefinition> transaction_definitions();
[[nodiscard]] std::span<const ConfigDefinition> partita_definitions();

[[nodiscard]] std::span<const ConfigDefinition> topic_definitions();

}  // namespace partita::config
