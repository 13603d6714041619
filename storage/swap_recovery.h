#pragma once

#include <cstdint>
#include <string>

#include "storage/file_system.h"

namespace partita {

/// Finishes an interrupted compaction, ours or Kafka's, in a partition's directory. A `.log.swap` replaces the segments that it
/// covers, unless a `.cleaned` file lies at or below its base. Such a file shows that not all files had been renamed to `.swap`
/// yet: then the swap is removed and the old segments stay. Also removes half-written files (`.cleaned`, `.tmp`) and abandoned
/// ones (`.deleted`). Returns the number of finished swaps. Harmless to repeat, also after a crash in the middle.
[[nodiscard]] StorageResult<std::uint64_t> finish_swaps(FileSystem& file_system, const std::string& directory);

}  // namespace partita
