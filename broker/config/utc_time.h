#pragma once

#include <optional>
#include <string>

#include "protocol/types.h"

namespace partita::config {

/// The end of the year 9999, the last that these texts can tell.
inline constexpr TimestampMs kLastTime{253'402'300'799'999};

/// Parses "2026-11-21T10:00:00Z", "2026-11-21T10:00:00" or "2026-11-21", all of them UTC. Null for anything else.
[[nodiscard]] std::optional<TimestampMs> parse_utc_time(const std::string& text);
/// "2026-11-21T10:00:00.250Z"; "-1 ms" for a time before 1970 or after `kLastTime`.
[[nodiscard]] std::string utc_time_text(TimestampMs time);

}  // namespace partita::config
