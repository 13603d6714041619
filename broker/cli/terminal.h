#pragma once

#include <cstddef>
#include <functional>
#include <string>

/// The abilities of a descriptor's terminal.
namespace partita::cli {

struct Terminal {
    /// False for a file, a pipe, or a terminal that can only append (TERM=dumb or none).
    bool can_redraw = false;
    bool is_terminal = false;
    /// True for a terminal that is not dumb, unless NO_COLOR is set.
    bool has_colour = false;
    /// The locale's character set is UTF-8 (LC_ALL, else LC_CTYPE, else LANG).
    bool has_unicode = false;
    std::size_t columns = 80;
    std::size_t lines = 24;
};

/// The value of an environment variable; empty if it is not set.
using Environment = std::function<std::string(const char* name)>;

/// For a descriptor with this size (0 if unknown).
[[nodiscard]] Terminal terminal_of(bool is_terminal, std::size_t columns, std::size_t lines, const Environment& environment);
/// The present state: long-running callers ask again after SIGWINCH.
[[nodiscard]] Terminal terminal_of(int descriptor);

}  // namespace partita::cli
