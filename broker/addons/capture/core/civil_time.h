#pragma once

#include <chrono>

#include "protocol/types.h"

namespace partita::capture {

/// A moment in UTC, to the second.
struct CivilTime {
    std::chrono::year_month_day date;
    std::chrono::hh_mm_ss<std::chrono::seconds> clock;
};

/// Converts to UTC. Readers of dates do not accept years before 1 and after 9999. Such times count as the first and the last
/// second that readers accept, because producers can choose any time.
[[nodiscard]] CivilTime civil_time(TimestampMs time);

}  // namespace partita::capture
