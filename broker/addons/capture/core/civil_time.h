#pragma once

#include "protocol/types.h"

namespace partita::capture {

/// A moment in UTC, to the second.
struct CivilTime {
    int year = 1970;
    int month = 1;
    int day = 1;
    int hour = 0;
    int minute = 0;
    int second = 0;

    friend bool operator==(const CivilTime&, const CivilTime&) = default;
};

/// Years before 1 and after 9999, which readers of dates do not take, count as the first and the last second of what they take:
/// producers choose times as they like.
[[nodiscard]] CivilTime civil_time(TimestampMs time);

}  // namespace partita::capture
