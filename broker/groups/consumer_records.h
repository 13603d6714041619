#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/groups/core.h"

/// Inside of the coordinator: how consumer groups change.

namespace partita::groups {

/// Ascending, without repetition.
[[nodiscard]] std::vector<std::string> sorted_names(std::span<const std::string_view> names);

}  // namespace partita::groups
