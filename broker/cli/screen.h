#pragma once

#include <termios.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A terminal that is drawn anew, for as long as the object lives: on its second screen, without a cursor, keys as they are
/// pressed. However the object ends, by a signal too, the terminal is as it was. One at a time in a process: SIGINT, SIGTERM,
/// SIGHUP and SIGWINCH are its events meanwhile.
namespace partita::cli {

class Screen {
  public:
    struct Event {
        enum class Kind {
            nothing,  ///< The time is over.
            key,
            resized,
            ended,  ///< A signal asks the program to end, or nobody is there any more.
        };
        Kind kind = Kind::nothing;
        char key = 0;
    };

    /// Standard output is a terminal that can be redrawn. Keys come from standard input, when that is a terminal, too.
    Screen();
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    /// The next event, or nothing after so many milliseconds.
    [[nodiscard]] Event wait(std::int64_t milliseconds);
    /// Shows these lines from the top on, and nothing below. False when nobody can see it any more.
    [[nodiscard]] bool draw(const std::vector<std::string>& lines);

  private:
    [[nodiscard]] bool write(std::string_view text);

    std::optional<::termios> before_;
    ::sigset_t signals_before_{};
    int signal_descriptor_ = -1;
};

}  // namespace partita::cli
