#pragma once

#include "protocol/types.h"

namespace partita::runtime {

/// The only place where the broker looks at a clock. Cores are handed the value.
[[nodiscard]] Now read_clock();

}  // namespace partita::runtime
