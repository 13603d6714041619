#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Text in the columns of a terminal.
namespace partita::cli {

/// The columns of a UTF-8 text: none for combining characters, two for wide East Asian characters and for pictures. An invalid
/// byte takes one.
[[nodiscard]] std::size_t columns_of(std::string_view text);

/// The text in exactly this many columns, without terminal control characters. A long text is cut, which its last column shows; a
/// short one gets blanks behind or before it. Without `has_unicode` the result is ASCII.
enum class Side { left, right };
[[nodiscard]] std::string fitted(std::string_view text, std::size_t columns, Side side, bool has_unicode);

}  // namespace partita::cli
