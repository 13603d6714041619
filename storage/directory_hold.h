#pragma once

#include <memory>
#include <string>

#include "protocol/types.h"
#include "storage/file_system.h"

namespace partita {

/// What we write into partita.properties; a higher number on disk is refused.
inline constexpr int kDirectoryFormatVersion = 1;

/// That this process holds a data directory, until destroyed; and what the directory said of itself then.
///
/// Its files: `.lock` (who holds the directory), `partita.properties` (the format version, and whether a Kafka had the directory
/// before) and `.kafka_cleanshutdown`, the mark of a clean stop.
struct DirectoryHold {
    std::unique_ptr<FileLock> lock;
    /// This is the first start of ours in a directory that was another broker's.
    bool is_foreign = false;
    /// There was such a start: this one or an earlier one.
    bool was_taken_over = false;
    /// The last stop was clean.
    bool was_clean = false;
};

/// Locks the directory, which exists, checks the format version or writes it, and takes the clean mark away, durably: so that a
/// crash during a recovery is never taken for a clean stop. The error of a directory that is in use says who has it. Blocks on
/// the disk.
[[nodiscard]] StorageResult<DirectoryHold> hold_directory(FileSystem& file_system, const std::string& directory, TimestampMs now);

/// Leaves the clean mark, durably. The caller has made everything else in the directory durable before.
[[nodiscard]] StorageResult<void> leave_clean_mark(FileSystem& file_system, const std::string& directory);

}  // namespace partita
