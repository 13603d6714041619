#pragma once

#include <cstdint>
#include <string>

#include "protocol/types.h"

namespace partita::cli {

/// A line of progress on standard error, redrawn at most ten times a second. It appears only on a terminal.
class ProgressLine {
  public:
    explicit ProgressLine(bool is_wanted);
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// True if `show` would draw now: texts cost time.
    [[nodiscard]] bool is_due() const;
    void show(const std::string& text);
    /// Must be called before other code writes to standard error.
    void clear();

  private:
    const bool is_shown_;
    bool is_drawn_ = false;
    Instant last_{};
};

/// "[####....]  50 %  5 of 10 records". Pure.
[[nodiscard]] std::string share_text(std::int64_t done, std::int64_t total);
/// Shows the share, if it makes sense.
void show_share(ProgressLine& line, std::int64_t done, std::int64_t total);

}  // namespace partita::cli
