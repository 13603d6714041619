#pragma once

namespace partita::tools {

/// Lets a tool that reads or shows until it is stopped end in good order: the first SIGINT or SIGTERM asks for the end, the
/// second one ends the program. Who does not want to read any more is seen when we write (SIGPIPE is ignored). One in a process.
class Interruption {
  public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    [[nodiscard]] bool is_asked() const;
    /// Can be read when the end is asked for (`client::Network::end_waits_by`).
    [[nodiscard]] int descriptor() const { return pipe_[0]; }

  private:
    int pipe_[2] = {-1, -1};
};

}  // namespace partita::tools
