#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace partita::tools {

/// The parts of a text between separators; one empty part of an empty text.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
/// Without blanks at its ends.
[[nodiscard]] std::string trimmed(std::string_view text);
/// With blanks behind it up to a width.
[[nodiscard]] std::string padded(std::string_view text, std::size_t width);
/// With `between` between them.
[[nodiscard]] std::string joined(const std::vector<std::string>& parts, std::string_view between);

/// Rows below their headers, as Kafka's tools with subcommands print them: each cell as wide as the widest of its column, with a
/// tab behind it.
[[nodiscard]] std::string table(const std::vector<std::string>& headers, const std::vector<std::vector<std::string>>& rows);

}  // namespace partita::tools
