#pragma once

#include <cstdint>
#include <string>

#include "storage/file_system.h"

namespace partita {

/// Brings the names in a partition's directory in order after an interrupted compaction, ours or Kafka's: a `.log.swap`
/// takes the place of the segments that it covers, unless a `.cleaned` file at or below its base says that the swap had not begun
/// in earnest; then it goes, and the old segments stay. Half-written files (`.cleaned`, `.tmp`) and given up ones
/// (`.deleted`) are removed. Returns how many swaps were finished. Harmless to repeat, also after a
/// crash in the middle.
[[nodiscard]] StorageResult<std::uint64_t> finish_swaps(FileSystem& file_system, const std::string& directory);

}  // namespace partita
