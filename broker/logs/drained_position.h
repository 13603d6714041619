#pragma once

#include <cstddef>
#include <map>

#include "storage/partition_log.h"

namespace partita::logs {

/// The offset of the first record at or after `from` that a consumer could be given; without one, the end of what the consumer
/// may read. A group that committed `from` has thus processed everything below the result.
///
/// Between a commit and the log end there may be nothing for the group: transaction markers, records of aborted transactions
/// (with `read_committed`), holes that compaction left. The function reads batch headers only, at most about
/// `kDrainedScanBytesMax` bytes. What lies after these counts as deliverable, and so does what cannot be read.
[[nodiscard]] Offset first_deliverable(const PartitionLog& log, Offset from, bool read_committed);

inline constexpr std::size_t kDrainedScanBytesMax = 1 << 20;

/// The same with `read_committed` for many positions in many logs: how a group reads is not known, and what was aborted is
/// nobody's to wait for. One such object is made for whatever asks, and has one budget.
///
/// Where no transaction ended behind a position nothing is read; elsewhere the disk. What lies between two positions is read
/// once, however many groups have committed there and however often they are asked for. At most about `bytes_max` bytes are read
/// in all; what lies after these counts as deliverable. The logs outlive the object.
class DrainedPositions {
  public:
    static constexpr std::size_t kBytesMax = std::size_t{32} << 20;
    /// What a position costs of that at least: of many positions that are short of little, each is a call of the system.
    static constexpr std::size_t kLookBytes = 512;

    explicit DrainedPositions(std::size_t bytes_max = kBytesMax) : bytes_max_(bytes_max) {}

    /// At or behind the log's start. Of one log ask for the lowest position first: then nothing is read twice.
    [[nodiscard]] Offset first_deliverable(PartitionLog& log, Offset from);
    /// With what positions cost at least.
    [[nodiscard]] std::size_t bytes_read() const { return bytes_read_; }

  private:
    /// Of each log the stretches in which nothing is deliverable, by where they begin.
    std::map<const PartitionLog*, std::map<Offset, Offset>> drained_;
    const std::size_t bytes_max_;
    std::size_t bytes_read_ = 0;
};

}  // namespace partita::logs

namespace partita::runtime {
using logs::DrainedPositions;
using logs::first_deliverable;
using logs::kDrainedScanBytesMax;
}  // namespace partita::runtime
