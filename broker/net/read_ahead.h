#pragma once

#include <cstddef>
#include <cstdint>

#include "storage/file_slice.h"

namespace partita::net {

/// Asks the kernel to read ahead for a connection that reads older records that are not in the page cache. Otherwise each send
/// would block the reactor until the disk has answered. Each connection that reads older records has its own instance.
class ReadAhead {
  public:
    /// How far ahead of the reader the kernel is asked to read, and the size of one such request.
    static constexpr std::uint64_t kBytes = 8 * 1024 * 1024;
    static constexpr std::uint64_t kStepBytes = 2 * 1024 * 1024;
    /// The most bytes that the connection sends with one call.
    static constexpr std::uint64_t kSendBytes = 1024 * 1024;

    /// The connection calls this before it sends the slice from `position` of its file on. It does not call this for a recent
    /// slice.
    void before_sending(const FileSlice& slice, std::uint64_t position);

  private:
    // The position up to which the present slice was checked; the file that was read ahead (only compared), and the position
    // reached in it.
    std::uint64_t looked_at_end_ = 0;
    const File* file_ = nullptr;
    std::uint64_t end_ = 0;
};

}  // namespace partita::net
