#pragma once

#include <string>
#include <utility>

#include "broker/catalog/commands.h"

namespace partita::catalog {

[[nodiscard]] inline CatalogError refused(ErrorCode code, std::string message) { return {code, std::move(message)}; }

}  // namespace partita::catalog
