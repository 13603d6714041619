#pragma once

#include <cstddef>
#include <functional>
#include <string>

/// What the other end of a descriptor can show.
namespace partita::cli {

struct Terminal {
    /// False for a file, a pipe, or a terminal that can only append (TERM=dumb or none).
    bool can_redraw = false;
    bool is_terminal = false;
    /// NO_COLOR is not set to anything, and it is a terminal that is not dumb.
    bool has_colour = false;
    /// The locale's character set is UTF-8 (LC_ALL, else LC_CTYPE, else LANG).
    bool has_unicode = false;
    std::size_t columns = 80;
    std::size_t lines = 24;
};

/// The value of a variable of the environment; empty when there is none.
using Environment = std::function<std::string(const char* name)>;

/// Of a descriptor with this size (0 for an unknown one).
[[nodiscard]] Terminal terminal_of(bool is_terminal, std::size_t columns, std::size_t lines, const Environment& environment);
/// As it is now: who draws for long asks again after SIGWINCH.
[[nodiscard]] Terminal terminal_of(int descriptor);

}  // namespace partita::cli
