#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types.h"
#include "storage/storage_error.h"

/// Copies of a data directory under names, in a folder of that directory. For tests of applications: a snapshot survives what a
/// kill survives, but only `take` makes it survive a power failure.
///
/// A segment that takes no more records never changes in its place: cleaning and retention replace or unlink files. So `take` and
/// `restore` link these, and clone everything else (by reflink, where the file system can, otherwise by copying the parts with
/// data). `PartitionLog::begin_segment` before the close keeps the rest small.
///
/// Except for `list`, `find` and `remove`, no process may use the data directory during a call. One caller at a time. All calls
/// block on the disk.
namespace partita {

class DataSnapshots {
  public:
    /// The folder of the data directory. Nothing else there has this name: no topic is called `partita` with such a number.
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
    /// An error for which `is_not_found` holds if there is none of that name.
    [[nodiscard]] StorageResult<Snapshot> find(std::string_view name) const;
    /// Copies the data directory. A snapshot of that name is replaced, once the new one is complete and synced.
    [[nodiscard]] StorageResult<Snapshot> take(std::string_view name);
    /// Makes the data directory what it was when the snapshot was taken; snapshots stay. A crash in between is mended by
    /// `finish_restore`. The files from before are set aside for `purge`.
    [[nodiscard]] StorageResult<void> restore(std::string_view name);
    /// Completes a restore that a crash interrupted. No effect otherwise. Call it before the data directory is opened.
    [[nodiscard]] StorageResult<void> finish_restore();
    [[nodiscard]] StorageResult<void> remove(std::string_view name);
    /// Unlinks what `restore`, `take` and `remove` set aside. Slow for large directories; any thread may call it.
    void purge();

    /// Copies the snapshot in `folder`, or any data directory that is not in use, into the data directory, which has to be empty
    /// or missing. Nothing is linked, so that `folder` stays what it is whatever happens to the copy.
    [[nodiscard]] StorageResult<void> begin_from(const std::string& folder);

  private:
    [[nodiscard]] std::string path_of(std::string_view name) const;
    [[nodiscard]] std::string new_trash() const;
    [[nodiscard]] StorageResult<void> make_folder() const;
    [[nodiscard]] StorageResult<void> set_data_aside() const;

    const std::string directory_;
    const std::string folder_;
};

}  // namespace partita
