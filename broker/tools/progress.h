#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "broker/tools/tool.h"

/// Shows the progress of a command at a terminal.
namespace partita::tools {

/// "12000 records, 3.4 MiB, 1.1 MiB/s". Pure.
[[nodiscard]] std::string progress_text(std::int64_t records, std::uint64_t bytes, std::int64_t milliseconds);

/// A line on the error stream that is redrawn at most ten times a second and erased at the end. It appears only if the error
/// stream is a terminal and the records themselves (`records` in or out) are not on one, because the two would mix.
class Progress {
  public:
    Progress(const Surroundings& surroundings, std::FILE* records);
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(std::int64_t records, std::uint64_t bytes);
    /// Must be called before other code writes to the error stream.
    void clear();

  private:
    const Surroundings& surroundings_;
    const bool is_shown_;
    bool is_drawn_ = false;
    const Instant began_;
    Instant last_;
};

}  // namespace partita::tools
