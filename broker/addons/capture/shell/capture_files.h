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

/// The directory that capture writes to. Files get their names below it; beside them stands `kWorkDirectory` with what is
/// written (`*.part`) and how far each partition has come (`*.progress`).
///
/// How a file comes to its name, so that a crash of the process or of the machine between any two steps leaves each record in
/// exactly one file: it is written and synced as `ID-NUMBER.part`; `store` replaces the partition's progress, with the name that
/// the part is to have, and syncs it; `publish` makes the directories of that name, durably, moves the part there, which file
/// systems do as one step, and syncs both places. A start does the last step again.
/// Numbers are never used twice once they are stored, so a part that is only begun is never taken for a whole one. People may
/// move or remove files that have their name: nothing is told from these.
///
/// One thread. All calls wait for the disk.
class CaptureFiles {
  public:
    static constexpr std::string_view kWorkDirectory = ".partita-capture";
    /// Of a progress file.
    static constexpr std::size_t kProgressBytesMax = 4096;

    /// The file system outlives this.
    CaptureFiles(FileSystem& file_system, std::string directory);

    /// Makes the directory where it is missing and keeps other brokers out of it, while this lives. Again after a failure.
    [[nodiscard]] StorageResult<void> open();
    [[nodiscard]] bool is_open() const { return lock_ != nullptr; }

    /// `id` tells partitions apart, also of topics that had the same name. How far it has come; a default where it is new. The
    /// newest file has its name when this returned. Fails with `corrupt` for a file that says something else.
    [[nodiscard]] StorageResult<Progress> load(const std::string& id);

    /// Where file number `number` of a partition is written until it has its name.
    [[nodiscard]] std::string part(const std::string& id, std::uint64_t number) const;
    [[nodiscard]] StorageResult<bool> is_taken(const std::string& path);
    [[nodiscard]] StorageResult<void> store(const std::string& id, const Progress& progress);
    [[nodiscard]] StorageResult<void> publish(const std::string& id, const Progress& progress);

    /// Of a topic that is no more. `progress`: what is known of it.
    [[nodiscard]] StorageResult<void> forget(const std::string& id, const Progress& progress);

    [[nodiscard]] FileSystem& file_system() { return file_system_; }

  private:
    [[nodiscard]] std::string progress_path(const std::string& id) const;
    /// Makes a directory below the capture directory, durably: before a file moves there.
    [[nodiscard]] StorageResult<void> make_way_to(const std::string& place);

    FileSystem& file_system_;
    const std::string directory_;
    const std::string work_directory_;
    std::unique_ptr<FileLock> lock_;
};

}  // namespace partita::capture
