#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Text in the columns of a terminal.
namespace partita::cli {

/// Columns that UTF-8 text takes: none for what combines, two for wide characters of East Asia and for pictures. A byte that is
/// none of a character takes one.
[[nodiscard]] std::size_t columns_of(std::string_view text);

/// The text in exactly so many columns: without anything that a terminal would obey, cut where it is too long (its last column
/// says so), with blanks behind it, or before it, where it is too short. Without `has_unicode` it is ASCII.
enum class Side { left, right };
[[nodiscard]] std::string fitted(std::string_view text, std::size_t columns, Side side, bool has_unicode);

}  // namespace partita::cli
