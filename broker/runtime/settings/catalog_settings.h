#pragma once

#include "broker/catalog/commands.h"
#include "broker/config/broker_config.h"

namespace partita::runtime {

/// The settings of the catalog, derived from the broker's settings.
[[nodiscard]] catalog::CatalogSettings catalog_settings(const config::BrokerConfig& config);

}  // namespace partita::runtime
