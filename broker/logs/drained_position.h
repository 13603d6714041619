#pragma once

#include <cstddef>
#include <map>

#include "storage/partition_log.h"

namespace partita::logs {

/// The offset of the first record at or after `from` that a consumer could receive; without one, the end of what the consumer may
/// read. A group that committed `from` has thus processed everything below the result.
///
/// Between a commit and the log end there may be nothing for the group: transaction markers, records of aborted transactions
/// (with `read_committed`), or holes from compaction. The function reads batch headers only, at most about `kDrainedScanBytesMax`
/// bytes. Anything after that limit counts as deliverable, and so does anything it cannot read.
[[nodiscard]] Offset first_deliverable(const PartitionLog& log, Offset from, bool read_committed);

inline constexpr std::size_t kDrainedScanBytesMax = 1 << 20;

/// `first_deliverable` with `read_committed`, for many positions in many logs. The isolation level of a group is unknown, and no
/// consumer has to wait for aborted records. Each caller makes one such object, with one budget of bytes.
///
/// If no transaction ended after a position, the object reads nothing; otherwise it reads the disk. It reads the range between
/// two positions once, for any number of groups and calls. It reads at most about `bytes_max` bytes in all; anything after that
/// counts as deliverable. The logs must outlive the object.
class DrainedPositions {
  public:
    static constexpr std::size_t kBytesMax = std::size_t{32} << 20;
    /// The least that one position takes from the budget: each of many positions with little to read still costs a system call.
    static constexpr std::size_t kLookBytes = 512;

    explicit DrainedPositions(std::size_t bytes_max = kBytesMax) : bytes_max_(bytes_max) {}

    /// Returns at least the log start offset. Ask for the lowest position of a log first, so that nothing is read twice.
    [[nodiscard]] Offset first_deliverable(PartitionLog& log, Offset from);
    /// Includes the minimum charge for each position.
    [[nodiscard]] std::size_t bytes_read() const { return bytes_read_; }

  private:
    /// For each log, the ranges without a deliverable record, by their start offsets.
    std::map<const PartitionLog*, std::map<Offset, Offset>> drained_;
    const std::size_t bytes_max_;
    std::size_t bytes_read_ = 0;
};

}  // namespace partita::logs
