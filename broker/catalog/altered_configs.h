#pragma once

#include <expected>

#include "broker/catalog/catalog_commands.h"

namespace partita::catalog {

/// What `current` becomes by the changes of a request. Each of them that sets, adds or takes away has a value. The error is
/// Kafka's: something is added to what is no list, or there is no such operation.
[[nodiscard]] std::expected<ConfigMap, CatalogError> altered_configs(const ResourceToAlter& wish, const ConfigMap& current,
                                                                     const ConfigRules& rules);

}  // namespace partita::catalog
