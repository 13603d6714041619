#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types.h"
#include "storage/file_system.h"
#include "storage/storage_error.h"

/// Copies of a data directory under names, in a folder of that directory. For tests of applications: a snapshot survives what a
/// kill survives, but only `take` makes it survive a power failure.
///
/// A segment that takes no more records does not change in its place: cleaning and retention replace or unlink files, and
/// a recovery that has to cut one, or to go on in it, copies it first. So `take` and `restore` link these, and clone everything
/// else (by reflink, where the file system can, otherwise by copying the parts with data). `PartitionLog::begin_segment` before
/// the close keeps the rest small. A link to a directory counts as the directory.
///
/// `take`, `restore`, `finish` and `begin_from` hold the lock of the data directory, so they fail while a broker uses it. All
/// calls block on the disk.
namespace partita {

class DataSnapshots {
  public:
    /// The folder of the data directory. Nothing else there has this name: it is not that of a partition.
    static constexpr std::string_view kFolder = "partita-snapshots";
    static constexpr std::size_t kNameBytesMax = 64;
    /// More snapshots than this are refused.
    static constexpr std::size_t kSnapshotsMax = 1000;

    struct Snapshot {
        std::string name;
        TimestampMs taken;
        std::uint64_t files = 0;
        /// The lengths of all files together, however little of the device they use.
        std::uint64_t size_bytes = 0;
    };

    explicit DataSnapshots(std::string data_directory);

    /// True for 1 to 64 of the characters a-z, A-Z, 0-9, '.', '_' and '-', with a letter or digit first.
    [[nodiscard]] static bool is_name(std::string_view name);

    /// By name, ascending.
    [[nodiscard]] StorageResult<std::vector<Snapshot>> list() const;
    /// Without a snapshot of that name: an error for which `is_not_found` holds.
    [[nodiscard]] StorageResult<Snapshot> find(std::string_view name) const;
    /// Quick, however many files a snapshot has.
    [[nodiscard]] bool has(std::string_view name) const;
    [[nodiscard]] std::size_t count() const;

    /// Copies the data directory. A snapshot of that name is replaced, once the new one is complete and synced.
    [[nodiscard]] StorageResult<Snapshot> take(std::string_view name);
    /// Makes the data directory what it was when the snapshot was taken; snapshots stay. The files from before are set aside for
    /// `purge`. After an error nothing has changed, unless `is_unfinished`: then `finish` has to succeed before the directory is
    /// used, as after a crash.
    [[nodiscard]] StorageResult<void> restore(std::string_view name);
    [[nodiscard]] bool is_unfinished() const;
    /// Completes `restore` or `begin_from` after a crash. No effect otherwise. Call it before the data directory is opened.
    [[nodiscard]] StorageResult<void> finish();
    [[nodiscard]] StorageResult<void> remove(std::string_view name);
    /// Unlinks everything that the others set aside, until `stops` says so. Slow for large directories; any thread may call it.
    void purge(const std::function<bool()>& stops = [] { return false; });

    /// Copies the snapshot in `folder`, or any data directory that is not in use, into the data directory, which has to be empty
    /// or missing. Nothing is linked, so that `folder` stays what it is whatever happens to the copy. After an error, and after a
    /// crash, the data directory is empty, or `finish` completes it.
    [[nodiscard]] StorageResult<void> begin_from(const std::string& folder);

  private:
    enum class Links : bool { no, yes };

    [[nodiscard]] std::string path_of(std::string_view name) const;
    [[nodiscard]] std::string new_trash() const;
    [[nodiscard]] StorageResult<void> make_folder() const;
    [[nodiscard]] StorageResult<std::unique_ptr<FileLock>> lock() const;
    [[nodiscard]] static StorageResult<void> copy_folder(const std::string& from, const std::string& to, Links links);
    /// Copies everything in `from` into a new folder beside the snapshots.
    [[nodiscard]] StorageResult<void> stage(const std::string& from, Links links) const;
    /// Moves a complete copy to the place of the data.
    [[nodiscard]] StorageResult<void> place() const;
    [[nodiscard]] StorageResult<void> set_data_aside() const;

    const std::string directory_;
    const std::string folder_;
};

}  // namespace partita
