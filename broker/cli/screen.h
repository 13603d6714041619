#pragma once

#include <termios.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A terminal that this object redraws during its life: on the alternate screen, without a cursor, with keys unbuffered. Its end
/// restores the terminal, also after a signal. One at a time in a process: meanwhile SIGINT, SIGTERM, SIGHUP and SIGWINCH are its
/// events.
namespace partita::cli {

class Screen {
  public:
    struct Event {
        enum class Kind {
            nothing,  ///< The time is over.
            key,
            resized,
            ended,  ///< A signal requests the end, or the terminal has gone.
        };
        Kind kind = Kind::nothing;
        char key = 0;
    };

    /// Requires a redrawable terminal on standard output. Keys come from standard input, if that is a terminal, too.
    Screen();
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    /// The next event, or nothing after this many milliseconds.
    [[nodiscard]] Event wait(std::int64_t milliseconds);
    /// Shows these lines from the top, and nothing below. Returns false if the terminal has gone.
    [[nodiscard]] bool draw(const std::vector<std::string>& lines);

  private:
    [[nodiscard]] bool write(std::string_view text);

    std::optional<::termios> before_;
    ::sigset_t signals_before_{};
    int signal_descriptor_ = -1;
};

}  // namespace partita::cli
