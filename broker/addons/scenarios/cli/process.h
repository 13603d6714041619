#pragma once

#include <sys/types.h>

#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/file_descriptor.h"

/// Child processes of a scenario.
namespace partita::scenarios {

struct Pipe {
    FileDescriptor out;
    FileDescriptor in;
};
/// The error is a sentence.
[[nodiscard]] std::expected<Pipe, std::string> make_pipe();

/// How a process ended.
struct Ending {
    /// "with exit code 1", "by signal 9".
    std::string how;
    bool is_good = false;
};

struct ProcessWish {
    std::vector<std::string> words;
    /// NAME=VALUE, complete.
    std::vector<std::string> environment;
    /// Written to by the process; not owned.
    int output = -1;
    int errors = -1;
    /// Sent to the process if this program dies.
    int signal_of_death = 0;
};

/// A process in a process group of its own. Its destruction kills the whole group and waits for the process.
class Process {
  public:
    /// The calling thread must not end before the process. The error is a sentence.
    [[nodiscard]] static std::expected<Process, std::string> start(const ProcessWish& wish);
    ~Process();
    Process(Process&& other) noexcept
        : id_(std::exchange(other.id_, -1)), handle_(std::move(other.handle_)), ending_(std::move(other.ending_)) {}
    Process& operator=(Process&&) = delete;

    /// Becomes readable when the process ends.
    [[nodiscard]] int descriptor() const { return handle_.get(); }
    /// Unset while the process runs. When the process ends, the rest of its group is killed.
    [[nodiscard]] const std::optional<Ending>& look();
    /// Sends a signal to the whole group.
    void send(int signal) const;

  private:
    Process(pid_t id, FileDescriptor handle) : id_(id), handle_(std::move(handle)) {}
    void reap(int options);

    pid_t id_;
    FileDescriptor handle_;
    std::optional<Ending> ending_;
};

}  // namespace partita::scenarios
