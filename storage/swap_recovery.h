#pragma once

#include <cstdint>
#include <string>

#include "storage/file_system.h"

namespace partita {

/// Finishes an interrupted compaction, ours or Kafka's, in a partition's directory. A `.log.swap` replaces the segments
/// that it covers, unless a `.cleaned` file at or below its base shows that not all files had been renamed to `.swap`
/// yet; then the swap is removed and the old segments stay. Removes half-written files (`.cleaned`, `.tmp`) and given
/// up ones (`.deleted`). Returns how many swaps were finished. Harmless to repeat, also after a crash in the middle.
[[nodiscard]] StorageResult<std::uint64_t> finish_swaps(FileSystem& file_system, const std::string& directory);

}  // namespace partita
