#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "broker/tools/tool.h"

/// How far a command has come, for whoever waits for it at a terminal.
namespace partita::tools {

/// "12000 records, 3.4 MiB, 1.1 MiB/s". Pure.
[[nodiscard]] std::string progress_text(std::int64_t records, std::uint64_t bytes, std::int64_t milliseconds);

/// A line on the error stream that is written anew, ten times a second at most, and is gone in the end. Only when the error
/// stream is a terminal, and the records themselves (`records` in or out) are none: there they would be in each other's way.
class Progress {
  public:
    Progress(const Surroundings& surroundings, std::FILE* records);
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(std::int64_t records, std::uint64_t bytes);
    /// Before somebody else writes on the error stream.
    void clear();

  private:
    const Surroundings& surroundings_;
    const bool is_shown_;
    bool is_drawn_ = false;
    const Instant began_;
    Instant last_;
};

}  // namespace partita::tools
