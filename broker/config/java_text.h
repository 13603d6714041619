#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reads and prints values of configs like Java. Kafka's answers contain Java's texts, so these functions must match them to the
/// character.
namespace partita::config::java {

/// The text without leading and trailing characters up to and including U+0020 (String.trim).
[[nodiscard]] std::string_view trim(std::string_view text);

/// Integer.parseInt and similar methods: an optional sign and decimal digits, nothing else, within bounds.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t minimum, std::int64_t maximum);

/// Double.parseDouble: also accepts a trailing f, F, d or D, hexadecimal, "NaN" and "Infinity".
[[nodiscard]] std::optional<double> parse_double(std::string_view text);

/// Double.toString: "0.5", "1.0E-5", "1.7976931348623157E308".
[[nodiscard]] std::string double_text(double value);

/// Items between commas, white space around commas dropped; an empty text has no items.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text);

/// String.split(","): trailing empty items are dropped, white space stays.
[[nodiscard]] std::vector<std::string> split_commas(std::string_view text);

[[nodiscard]] std::string join(const std::vector<std::string>& items, std::string_view separator);
/// List.toString: "[a, b]".
[[nodiscard]] std::string list_text(const std::vector<std::string>& items);

// Ignores the case of ASCII letters only.
[[nodiscard]] bool equal_ignoring_case(std::string_view left, std::string_view right);
[[nodiscard]] std::string to_upper(std::string_view text);
[[nodiscard]] std::string to_lower(std::string_view text);

}  // namespace partita::config::java
