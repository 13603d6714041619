#pragma once

#include <chrono>

#include "protocol/types.h"

namespace partita::capture {

/// A moment in UTC, to the second.
struct CivilTime {
    std::chrono::year_month_day date;
    std::chrono::hh_mm_ss<std::chrono::seconds> clock;
};

/// Years before 1 and after 9999, which readers of dates do not take, count as the first and the last second of what they take:
/// producers choose times as they like.
[[nodiscard]] CivilTime civil_time(TimestampMs time);

}  // namespace partita::capture
