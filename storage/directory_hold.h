#pragma once

#include <memory>
#include <string>

#include "protocol/types.h"
#include "storage/file_system.h"

namespace partita {

/// The format version that we write into partita.properties. A start refuses a directory with a higher one.
inline constexpr int kDirectoryFormatVersion = 1;

/// A process's hold on a data directory, until destroyed, and the state of the directory when the process took it.
///
/// Files: `.lock` names the holder. `partita.properties` has the format version, and whether a Kafka had the directory before.
/// `.kafka_cleanshutdown` marks a clean stop.
struct DirectoryHold {
    std::unique_ptr<FileLock> lock;
    /// This is our first start in a directory that another broker used before.
    bool is_foreign = false;
    /// This start or an earlier one was such a first start.
    bool was_taken_over = false;
    /// The last stop was clean.
    bool was_clean = false;
};

/// Locks the directory, which must exist, and checks the format version or writes it. Then removes the clean mark, durably, so
/// that no start takes a crash during recovery for a clean stop. If the directory is in use, the error names the holder. Blocks
/// on the disk.
[[nodiscard]] StorageResult<DirectoryHold> hold_directory(FileSystem& file_system, const std::string& directory, TimestampMs now);

/// Leaves the clean mark, durably. The caller has made everything else in the directory durable before.
[[nodiscard]] StorageResult<void> leave_clean_mark(FileSystem& file_system, const std::string& directory);

}  // namespace partita
