#include "broker/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace partita::cli {
namespace {

bool is_utf8(const Environment& environment) {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string locale = environment(name);
        if (locale.empty()) {
            continue;
        }
        std::ranges::transform(locale, locale.begin(),
                               [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
        return locale.contains("utf-8") || locale.contains("utf8");
    }
    return false;
}

}  // namespace

Terminal terminal_of(bool is_terminal, std::size_t columns, std::size_t lines, const Environment& environment) {
    Terminal terminal;
    const std::string kind = environment("TERM");
    terminal.is_terminal = is_terminal;
    terminal.can_redraw = is_terminal && !kind.empty() && kind != "dumb";
    terminal.has_colour = terminal.can_redraw && environment("NO_COLOR").empty();
    terminal.has_unicode = is_utf8(environment);
    if (columns > 0) {
        terminal.columns = columns;
    }
    if (lines > 0) {
        terminal.lines = lines;
    }
    return terminal;
}

Terminal terminal_of(int descriptor) {
    ::winsize size{};
    const bool is_terminal = ::isatty(descriptor) == 1;
    if (!is_terminal || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0) {
        size = {};
    }
    return terminal_of(is_terminal, size.ws_col, size.ws_row, [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    });
}

}  // namespace partita::cli
