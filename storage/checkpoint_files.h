#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/mutex.h"
#include "storage/checkpoint_text.h"
#include "storage/partition_log.h"
#include "storage/partition_name.h"
#include "storage/stale_names.h"

namespace partita {

/// The checkpoint files of a data directory, in Kafka's text format: `recovery-point-offset-checkpoint`,
/// `log-start-offset-checkpoint` and `cleaner-offset-checkpoint`.
///
/// The files know partitions by name, so they may describe a partition that is gone (`note_stale`). When a partition is made
/// under such a name, `disown_predecessor` puts a mark into its directory. While the mark is there, a start after a crash ignores
/// these files for the partition. The next complete write of the files removes the mark.
///
/// Thread-safe. The stale names have a lock of their own, apart from the writers' lock: a log's first append asks for them while
/// it holds its own lock.
class CheckpointFiles {
  public:
    CheckpointFiles(FileSystem& file_system, std::string directory)
        : file_system_(file_system), directory_(std::move(directory)) {}

    struct Offsets {
        OffsetCheckpoint recovery_points;
        OffsetCheckpoint log_starts;
        OffsetCheckpoint first_dirty;

        /// The offsets that the files have for one partition, as hints; kNoOffset where a file does not name it.
        [[nodiscard]] PartitionLog::OpenHints hints_for(const PartitionName& partition) const;
    };
    /// Reads the files. A missing file counts as empty. So does a damaged recovery-point-offset-checkpoint, which costs a longer
    /// recovery, and a damaged cleaner-offset-checkpoint, which makes everything count as never cleaned. A damaged
    /// log-start-offset-checkpoint is an error.
    [[nodiscard]] StorageResult<Offsets> read() const;

    /// Notes that the files may describe a partition that is gone, or have outdated offsets for one. The caller removes the
    /// partition from the result of `gather` (see `write`) before this call, or under the same lock.
    void note_stale(const PartitionName& name, bool is_cleaned) EXCLUDES(stale_mutex_);
    /// Leaves the mark in a partition's directory if the files may describe an earlier partition of its name. Called when the
    /// directory was made, before anything is written. Does not wait for a device.
    [[nodiscard]] StorageResult<void> disown_predecessor(const PartitionName& name) EXCLUDES(stale_mutex_);

    /// The contents to write.
    struct Contents {
        std::vector<std::shared_ptr<PartitionLog>> logs;
        /// Log starts of partitions without a log.
        OffsetCheckpoint other_log_starts;
    };
    /// Writes the recovery points and log starts of the logs that `gather()` returns, and the cleaned offsets if these may be
    /// stale. Then removes the marks that this write settles. Calls `gather` once, while no other thread writes; it may take the
    /// locks of the logs' owner. Blocks on the device. After a failure the old files stay, and the caller may try again.
    template <class Gather>
    [[nodiscard]] StorageResult<void> write(const Gather& gather) EXCLUDES(write_mutex_, stale_mutex_) {
        const MutexLock writing(write_mutex_);
        // A partition that becomes stale from now on may still be in the gathered contents.
        const StaleNames::Moment moment = stale_now();
        return write_contents(gather(), moment);
    }
    /// Writes how far each log that `gather()` returns is cleaned. Blocks on the device.
    template <class Gather>
    [[nodiscard]] StorageResult<void> write_cleaned(const Gather& gather) EXCLUDES(write_mutex_) {
        const MutexLock writing(write_mutex_);
        return write_first_dirty(gather());
    }
    /// Removes the recovery points, durably. Without them a start after a crash reads everything.
    [[nodiscard]] StorageResult<void> remove_recovery_points();

  private:
    [[nodiscard]] std::string path_of(std::string_view name) const;
    [[nodiscard]] std::string path_of_mark(const PartitionName& name) const;
    [[nodiscard]] StorageResult<OffsetCheckpoint> read(std::string_view name) const;
    [[nodiscard]] StorageResult<void> write(std::string_view name, const OffsetCheckpoint& checkpoint) REQUIRES(write_mutex_);
    [[nodiscard]] StaleNames::Moment stale_now() EXCLUDES(stale_mutex_);
    [[nodiscard]] StorageResult<void> write_contents(const Contents& contents, const StaleNames::Moment& moment)
        REQUIRES(write_mutex_) EXCLUDES(stale_mutex_);
    [[nodiscard]] StorageResult<void> write_first_dirty(const std::vector<std::shared_ptr<PartitionLog>>& logs)
        REQUIRES(write_mutex_);

    FileSystem& file_system_;
    const std::string directory_;
    /// A thread holds it while it writes the files, across their syncs.
    Mutex write_mutex_{LockRank::checkpoint_files};
    Mutex stale_mutex_{LockRank::stale_checkpoints};
    StaleNames stale_ GUARDED_BY(stale_mutex_);
};

}  // namespace partita
