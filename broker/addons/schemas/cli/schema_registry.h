#pragma once

#include <expected>
#include <string>

#include "broker/addons/schemas/core/registry_place.h"

namespace partita::cli {

/// Asks the schema registry over HTTP, or HTTP with TLS: a connection for each schema, of which a topic has a handful.
[[nodiscard]] std::expected<schemas::RegistryAnswer, std::string> ask_schema_registry(const schemas::RegistryPlace& place,
                                                                                      const schemas::RegistryRequest& request);

}  // namespace partita::cli
