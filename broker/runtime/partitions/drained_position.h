#pragma once

#include "storage/partition_log.h"

namespace partita::runtime {

/// The offset of the first record at or after `from` that a consumer could be given; without one, the end of what the consumer
/// may read. A group that committed `from` has thus processed everything below the result.
///
/// Between a commit and the log end there may be nothing for the group: transaction markers, records of aborted transactions
/// (with `read_committed`), holes that compaction left. The function reads batch headers only, at most about
/// `kDrainedScanBytesMax` bytes. What lies after these counts as deliverable, and so does what cannot be read.
[[nodiscard]] Offset first_deliverable(const PartitionLog& log, Offset from, bool read_committed);

inline constexpr std::size_t kDrainedScanBytesMax = 1 << 20;

/// The same with `read_committed` for many positions in many logs: how a group reads is not known, and what was aborted is
/// nobody's to wait for. What lies between two positions is read once, however many groups have committed there, and at most
/// about `kBytesMax` bytes are read in all; what lies after these counts as deliverable. Reads the disk.
class DrainedPositions {
  public:
    static constexpr std::size_t kBytesMax = std::size_t{32} << 20;

    /// Ask for all positions of one log one after the other, ascending.
    [[nodiscard]] Offset first_deliverable(const PartitionLog& log, Offset from);
    [[nodiscard]] std::size_t bytes_read() const { return bytes_read_; }

  private:
    const PartitionLog* log_ = nullptr;
    // In `log_`, nothing between these two is deliverable.
    Offset from_;
    Offset result_;
    std::size_t bytes_read_ = 0;
};

}  // namespace partita::runtime
