#pragma once

#include <atomic>
#include <cstdint>

namespace partita::capture {

/// Capture's numbers about itself. Only its worker writes them; any thread may read them.
struct CaptureCounters {
    // Totals since the start.
    std::atomic<std::uint64_t> messages = 0;
    std::atomic<std::uint64_t> bytes = 0;
    std::atomic<std::uint64_t> files = 0;
    /// Offsets that were gone before they were in a file.
    std::atomic<std::uint64_t> lost_messages = 0;
    std::atomic<std::uint64_t> failures = 0;
    // Present values.
    std::atomic<std::uint64_t> backlog_messages = 0;
    /// Partitions whose last attempt failed.
    std::atomic<std::uint64_t> failing_partitions = 0;
};

}  // namespace partita::capture
