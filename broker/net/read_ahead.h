#pragma once

#include <cstddef>
#include <cstdint>

#include "storage/partition_log.h"

namespace partita::net {

/// Before older records are sent, has the kernel bring what follows when they were not in the page cache: a reader of the disk would
/// otherwise hold the reactor with every send. One per connection that reads older records.
class ReadAhead {
  public:
    /// How far ahead of a reader is read, and how much more at once.
    static constexpr std::uint64_t kBytes = 8 * 1024 * 1024;
    static constexpr std::uint64_t kStepBytes = 2 * 1024 * 1024;
    /// What is sent at once at most.
    static constexpr std::uint64_t kSendBytes = 1024 * 1024;

    /// The connection calls this before it sends what follows `position` of the slice's file. Not for a slice that is recent.
    void before_sending(const FileSlice& slice, std::uint64_t position);

  private:
    // Up to where the present slice was looked at; the file that was read ahead (only compared), and up to where.
    std::uint64_t looked_at_end_ = 0;
    const File* file_ = nullptr;
    std::uint64_t end_ = 0;
};

}  // namespace partita::net
