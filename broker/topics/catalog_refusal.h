#pragma once

#include <string>
#include <utility>

#include "broker/topics/catalog_commands.h"

namespace partita::topics {

[[nodiscard]] inline CatalogError refused(ErrorCode code, std::string message) { return {code, std::move(message)}; }

}  // namespace partita::topics
