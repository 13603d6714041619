#pragma once

#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/config_sources.h"

namespace partita::config {

/// Adds what a person should know about valid settings: what of a cluster this single broker does not join, an address for
/// clients that leads nowhere, security that no listener has, replicas that cannot be. `is_image`: the settings are those of a
/// container, whose ports may be others outside.
void note_settings(const BrokerConfig& config, bool is_image, std::vector<StartNote>& notes);

}  // namespace partita::config
