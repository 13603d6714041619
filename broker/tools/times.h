#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

namespace partita::tools {

/// Parses "2026-11-21T10:00:00.000", followed by "Z", "+01", "+01:00" or nothing (UTC), to milliseconds since 1970. The error is
/// Kafka's text.
[[nodiscard]] std::expected<std::int64_t, std::string> parse_datetime(const std::string& text);

/// Parses "P1DT2H3M4.5S" like Java's Duration, to milliseconds. Null for anything else, and for more than 292 million years.
[[nodiscard]] std::optional<std::int64_t> parse_duration(const std::string& text);

}  // namespace partita::tools
