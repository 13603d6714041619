#pragma once

#include "protocol/types.h"

namespace partita::runtime {

/// The only place where the broker looks at a clock. Cores are handed the value.
[[nodiscard]] Now read_clock();

/// For how long something takes: nanoseconds since some moment that stays the same.
[[nodiscard]] std::int64_t read_stopwatch_ns();

}  // namespace partita::runtime
