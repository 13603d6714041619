#pragma once

#include "broker/config/broker_config.h"
#include "broker/groups/group_config.h"

namespace partita::runtime {

/// The settings of the group coordinators, derived from the broker's settings.
[[nodiscard]] groups::GroupConfig group_settings(const config::BrokerConfig& config);

}  // namespace partita::runtime
