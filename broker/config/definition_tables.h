#pragma once

#include <span>

#include "broker/config/config_definition.h"

/// The tables behind `broker_config_definitions` and `topic_config_definitions`, each ascending by name.
namespace partita::config {

[[nodiscard]] std::span<const ConfigDefinition> broker_definitions_a_to_f();
[[nodiscard]] std::span<const ConfigDefinition> broker_definitions_g_to_l();
[[nodiscard]] std::span<const ConfigDefinition> broker_definitions_m_to_r();
[[nodiscard]] std::span<const ConfigDefinition> broker_definitions_s_to_z();
[[nodiscard]] std::span<const ConfigDefinition> topic_definitions();

}  // namespace partita::config
