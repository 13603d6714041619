#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

namespace partita::tools {

/// "2026-11-21T10:00:00.000", with "Z", "+01" or "+01:00" behind it or without (then UTC), as milliseconds since 1970. The error
/// is Kafka's text.
[[nodiscard]] std::expected<std::int64_t, std::string> parse_datetime(const std::string& text);

/// "P1DT2H3M4.5S" as Java's Duration reads it, in milliseconds. Null for anything else, and for what is longer than 292 million
/// years.
[[nodiscard]] std::optional<std::int64_t> parse_duration(const std::string& text);

}  // namespace partita::tools
