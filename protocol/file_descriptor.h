#pragma once

#include <unistd.h>

#include <utility>

namespace partita {

/// Owns an open file or socket of the operating system, and closes it at the end. May own none.
class FileDescriptor {
  public:
    /// Owns nothing.
    FileDescriptor() = default;
    /// `number`: what `open`, `socket` and the like returned; below 0: owns nothing.
    explicit FileDescriptor(int number) : number_(number) {}
    ~FileDescriptor() { reset(); }
    FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;

    [[nodiscard]] bool is_open() const { return number_ >= 0; }
    /// The number for system calls; -1 if this owns nothing.
    [[nodiscard]] int get() const { return number_; }
    /// Gives the number, or -1, to the caller, who owns it from now on.
    [[nodiscard]] int release() { return std::exchange(number_, -1); }
    /// Closes the file or socket now.
    void reset() {
        if (is_open()) {
            // Linux frees the number whatever close returns. Callers that need to know of failed writes sync before.
            (void)::close(release());
        }
    }

  private:
    int number_ = -1;
};

}  // namespace partita
