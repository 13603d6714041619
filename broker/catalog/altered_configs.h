#pragma once

#include <expected>

#include "broker/catalog/commands.h"

namespace partita::catalog {

/// The configs after the changes of a request to `current`. Each change that sets, adds or removes has a value. The error is
/// Kafka's: the request adds to a config that is not a list, or the operation does not exist.
[[nodiscard]] std::expected<ConfigMap, CatalogError> altered_configs(const ResourceToAlter& wish, const ConfigMap& current,
                                                                     const ConfigRules& rules);

}  // namespace partita::catalog
