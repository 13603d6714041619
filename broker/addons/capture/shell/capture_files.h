#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "broker/addons/capture/core/window.h"
#include "protocol/types.h"
#include "storage/file_system.h"

namespace partita::capture {

/// The directory that capture writes to. Named files lie below it. Beside them, `kWorkDirectory` holds files in progress
/// (`*.part`) and each partition's progress (`*.progress`).
///
/// A file gets its name in three steps. A crash of the process or of the machine between any two of them leaves each record in
/// exactly one file.
/// - The file is written and synced as `ID-NUMBER.part`.
/// - `store` replaces the partition's progress, with the future name of the part, and syncs it.
/// - `publish` makes the directories of that name, durably, moves the part there, which file systems do atomically, and syncs
///   both places.
///
/// A start repeats the last step. Numbers are never used twice once they are stored, so a part that is only begun never counts as
/// a whole one. People may move or remove files that have their name: capture draws no conclusions from these.
///
/// One thread. All calls wait for the disk.
class CaptureFiles {
  public:
    static constexpr std::string_view kWorkDirectory = ".partita-capture";
    /// Largest size of a progress file.
    static constexpr std::size_t kProgressBytesMax = 4096;

    /// The file system must outlive this object.
    CaptureFiles(FileSystem& file_system, std::string directory);

    /// Makes the directory if it is missing, and locks out other brokers while this object lives. May be called again after a
    /// failure.
    [[nodiscard]] StorageResult<void> open();
    [[nodiscard]] bool is_open() const { return lock_ != nullptr; }

    /// Loads a partition's progress; a default if it is new. `id` tells partitions apart, even in topics that had the same name.
    /// After it returns, the newest file has its name. Fails with `corrupt` for a file with other contents.
    [[nodiscard]] StorageResult<Progress> load(const std::string& id);

    /// The path of file number `number` of a partition until it has its name.
    [[nodiscard]] std::string part(const std::string& id, std::uint64_t number) const;
    [[nodiscard]] StorageResult<bool> is_taken(const std::string& path);
    [[nodiscard]] StorageResult<void> store(const std::string& id, const Progress& progress);
    [[nodiscard]] StorageResult<void> publish(const std::string& id, const Progress& progress);

    /// Removes the files of a deleted topic's partition. `progress`: its last known progress.
    [[nodiscard]] StorageResult<void> forget(const std::string& id, const Progress& progress);

    [[nodiscard]] FileSystem& file_system() { return file_system_; }

  private:
    [[nodiscard]] std::string progress_path(const std::string& id) const;
    /// Makes a directory below the capture directory, durably, before a file moves there.
    [[nodiscard]] StorageResult<void> make_way_to(const std::string& place);

    FileSystem& file_system_;
    const std::string directory_;
    const std::string work_directory_;
    std::unique_ptr<FileLock> lock_;
};

}  // namespace partita::capture
