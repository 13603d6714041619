#pragma once

#include "broker/config/broker_config.h"
#include "broker/groups/group_config.h"

namespace partita::runtime {

/// What the coordinators want to know of the broker's settings.
[[nodiscard]] groups::GroupConfig group_settings(const config::BrokerConfig& config);

}  // namespace partita::runtime
