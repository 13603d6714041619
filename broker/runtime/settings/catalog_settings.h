#pragma once

#include "broker/config/broker_config.h"
#include "broker/topics/catalog_commands.h"

namespace partita::runtime {

/// What the catalog wants to know of the broker's settings.
[[nodiscard]] topics::CatalogSettings catalog_settings(const config::BrokerConfig& config);

}  // namespace partita::runtime
