#pragma once

#include <algorithm>
#include <cstdint>

#include "broker/logs/log_bounds.h"

namespace partita::http {

/// The last version of OffsetFetch that names topics instead of giving their ids.
inline constexpr std::int16_t kOffsetFetchWithNames = 9;

/// The number of offsets that a group has yet to read: from its commit, or from the log's start if the commit lies before that.
[[nodiscard]] inline std::int64_t records_behind(const logs::LogBounds& bounds, std::int64_t committed) {
    return std::max<std::int64_t>(0, bounds.end.value - std::max(committed, bounds.start.value));
}

}  // namespace partita::http
