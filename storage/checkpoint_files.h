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
/// They know partitions by name. So they may tell of one that is gone (`note_stale`); when a partition is made under such a name
/// (`disown_predecessor`), its directory gets a mark: as long as the mark is there, a start after a crash takes nothing from
/// these files for it. The mark goes when the files have been written again.
///
/// Thread-safe. The lock of the stale names is apart from that of who writes, as a log's first append asks for them with its own
/// lock held.
class CheckpointFiles {
  public:
    CheckpointFiles(FileSystem& file_system, std::string directory)
        : file_system_(file_system), directory_(std::move(directory)) {}

    struct Offsets {
        OffsetCheckpoint recovery_points;
        OffsetCheckpoint log_starts;
        OffsetCheckpoint first_dirty;

        /// What they tell of one partition: the offsets of the hints, kNoOffset where they do not name it.
        [[nodiscard]] PartitionLog::OpenHints hints_for(const PartitionName& partition) const;
    };
    /// What the files say. Those that are missing say nothing. So do a damaged recovery-point-offset-checkpoint, which costs a
    /// longer recovery, and a damaged cleaner-offset-checkpoint, without which everything counts as never cleaned; a damaged
    /// log-start-offset-checkpoint is an error.
    [[nodiscard]] StorageResult<Offsets> read() const;

    /// Notes that the files may tell of a partition that is gone, or no more what they tell of it. Whoever notes one takes it
    /// away from what `gather` (see `write`) tells under one lock, or before.
    void note_stale(const PartitionName& name, bool is_cleaned) EXCLUDES(stale_mutex_);
    /// Called when the directory of a partition was made, before anything is written: leaves the mark in it if the files may tell
    /// of an earlier partition of its name. Does not wait for a device.
    [[nodiscard]] StorageResult<void> disown_predecessor(const PartitionName& name) EXCLUDES(stale_mutex_);

    /// What the files are to tell.
    struct Contents {
        std::vector<std::shared_ptr<PartitionLog>> logs;
        /// Log starts of partitions without a log.
        OffsetCheckpoint other_log_starts;
    };
    /// Writes recovery points and log starts of what `gather()` returns, and what is cleaned if that may be stale; then takes the
    /// marks away that this settles. `gather` is called once, while nobody else writes; it may take the locks of the logs'
    /// owner. Blocks on the device. After a failure the old files stay, and the caller may try again.
    template <class Gather>
    [[nodiscard]] StorageResult<void> write(const Gather& gather) EXCLUDES(write_mutex_, stale_mutex_) {
        const MutexLock writing(write_mutex_);
        // What becomes stale from now on may still be in what is gathered.
        const StaleNames::Moment moment = stale_now();
        return write_contents(gather(), moment);
    }
    /// Writes how far every log that `gather()` returns is cleaned. Blocks on the device.
    template <class Gather>
    [[nodiscard]] StorageResult<void> write_cleaned(const Gather& gather) EXCLUDES(write_mutex_) {
        const MutexLock writing(write_mutex_);
        return write_first_dirty(gather());
    }
    /// Removes the recovery points, durably: without any, a start after a crash reads everything.
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
    /// Held by who writes the files, across their syncs.
    Mutex write_mutex_{LockRank::checkpoint_files};
    Mutex stale_mutex_{LockRank::stale_checkpoints};
    StaleNames stale_ GUARDED_BY(stale_mutex_);
};

}  // namespace partita
