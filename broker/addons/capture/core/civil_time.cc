#include "broker/addons/capture/core/civil_time.h"

#include <algorithm>
#include <chrono>

namespace partita::capture {

CivilTime civil_time(TimestampMs time) {
    using namespace std::chrono;
    constexpr sys_seconds kFirst = sys_days(year(1) / January / 1);
    constexpr sys_seconds kLast = sys_days(year(10000) / January / 1) - seconds(1);
    constexpr milliseconds kFirstMs = kFirst.time_since_epoch();
    constexpr milliseconds kLastMs = kLast.time_since_epoch();
    const auto at = floor<seconds>(sys_time<milliseconds>(std::clamp(milliseconds(time.value), kFirstMs, kLastMs)));
    const auto midnight = floor<days>(at);
    return {.date = midnight, .clock = hh_mm_ss<seconds>(at - midnight)};
}

}  // namespace partita::capture
