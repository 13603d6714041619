#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace partita::tools {

/// Splits a text at separators; an empty text has one empty part.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
/// The text without blanks at its ends.
[[nodiscard]] std::string trimmed(std::string_view text);
/// The text, padded with blanks to a width.
[[nodiscard]] std::string padded(std::string_view text, std::size_t width);
/// The parts, joined by `between`.
[[nodiscard]] std::string joined(const std::vector<std::string>& parts, std::string_view between);

/// Rows below their headers, like the Kafka tools with subcommands print them: each cell as wide as the widest of its column,
/// followed by a tab.
[[nodiscard]] std::string table(const std::vector<std::string>& headers, const std::vector<std::vector<std::string>>& rows);

}  // namespace partita::tools
