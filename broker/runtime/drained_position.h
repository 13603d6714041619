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

}  // namespace partita::runtime
