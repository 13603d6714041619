#pragma once

#include "storage/partition_log.h"

namespace partita::runtime {

/// Offset of the first record at or behind `from` that a consumer could be given, or the end of what it may read when
/// there is none: a group that committed `from` has done everything below the result.
///
/// What lies between a commit and the log end need not be anything for the group: transaction markers, records of aborted
/// transactions (with `read_committed`), holes that compaction left. Reads batch headers only, at most about
/// `kDrainedScanBytesMax`; what lies behind counts as deliverable, and so does what cannot be read.
[[nodiscard]] Offset first_deliverable(const PartitionLog& log, Offset from, bool read_committed);

inline constexpr std::size_t kDrainedScanBytesMax = 1 << 20;

/// The same for many positions, of many logs: what lies between two positions is read once, however many groups are there,
/// and at most about `kBytesMax` in all; what lies behind counts as deliverable. Reads the disk.
class DrainedPositions {
  public:
    static constexpr std::size_t kBytesMax = std::size_t{32} << 20;

    /// Positions of one log come one behind the other, ascending.
    [[nodiscard]] Offset first_deliverable(const PartitionLog& log, Offset from);
    [[nodiscard]] std::size_t bytes_read() const { return bytes_read_; }

  private:
    const PartitionLog* log_ = nullptr;
    // Of that log: nothing in between is deliverable.
    Offset from_;
    Offset result_;
    std::size_t bytes_read_ = 0;
};

}  // namespace partita::runtime
