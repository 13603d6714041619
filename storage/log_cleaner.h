#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "storage/key_offsets.h"
#include "storage/partition_log.h"

/// Compaction of one log: the work behind PartitionLog::clean.
///
/// Pure code elsewhere decides which segments to clean (cleaning_rules.h) and which records of a batch stay (batch_cleaner.h).
/// This code handles the files:
///
/// 1. It reads the dirty segments and notes the last offset of every key, until the memory for keys is full.
/// 2. It goes back to the log's start and reads all segments that begin below the point where step 1 stopped. For each group of
/// neighbours it writes the
///    remaining records to `<base>.log.cleaned`, with the indexes beside it, and syncs them.
/// 3. It renames the `.cleaned` files to `.swap`, the log last, and syncs the directory. After a crash from here on, the next
/// start finishes the swap.
/// 4. It removes the files of the other old segments. The `.swap` files take the names of the first one, the log last. Then it
///    syncs the directory.
///
/// A start after a crash removes `.cleaned` files and finishes a swap that has a `.log.swap` (swap_recovery.h). Names and order
/// are Kafka's, so either broker can finish a swap that the other began.
///
/// Names change under the append mutex, and only while the log is not deleted, because its directory's name may belong to another
/// topic afterwards. No thread waits for the device under that mutex. Readers keep the old files until they are done.
namespace partita {

struct CleaningOptions {
    TimestampMs now{0};
    /// The cleaning touches nothing at or above this offset. For logs whose checkpoint does not yet cover their newest records.
    Offset keep_from{std::numeric_limits<std::int64_t>::max()};
    KeyOffsets::Limits key_limits;
    KeyOffsets::Secrets key_secrets;
    /// Bytes collected before they are written: log.cleaner.io.buffer.size.
    std::size_t write_bytes = 524288;
    /// The cleaner calls it now and then; false ends the cleaning early with kind `closed`. Segments that were swapped stay
    /// swapped.
    std::function<bool()> may_go_on;
};

struct CleaningReport {
    Offset first_dirty{0};
    /// Everything below this offset is clean now. Equal to `first_dirty` when there was nothing to do.
    Offset clean_until{0};
    std::size_t segments_before = 0;
    std::size_t segments_after = 0;
    std::uint64_t bytes_before = 0;
    std::uint64_t bytes_after = 0;
    std::int64_t records_before = 0;
    std::int64_t records_after = 0;
    std::size_t keys = 0;
};

inline constexpr std::string_view kCleanedSuffix = ".cleaned";
inline constexpr std::string_view kSwapSuffix = ".swap";
inline constexpr std::string_view kDeletedFileSuffix = ".deleted";

}  // namespace partita
