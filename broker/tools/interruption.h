#pragma once

namespace partita::tools {

/// Lets a tool that runs until it is stopped end in good order: the first SIGINT or SIGTERM requests the end, the second one ends
/// the program. If the reader of the output closes it, the next write fails (SIGPIPE is ignored). One per process.
class Interruption {
  public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    [[nodiscard]] bool is_asked() const;
    /// Becomes readable when the end is requested (`client::Network::end_waits_by`).
    [[nodiscard]] int descriptor() const { return pipe_[0]; }

  private:
    int pipe_[2] = {-1, -1};
};

}  // namespace partita::tools
