#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/partition_log.h"
#include "storage/partition_log_state.h"

namespace partita {

/// One sync of one log, in steps, so that thousands of logs can share what waits for the device (`sync_logs`).
///
/// What is to be made durable is chosen, and small caches are written to the page cache, under the append mutex;
/// everything that waits for the device happens without it, because producers take that mutex on reactor threads.
/// The steps, in this order: `choose`; the content becomes durable (`sync_content`, or `stage_epochs` and the sync of
/// the whole volume); `rename_epochs`; the names become durable (`sync_names`, or the volume again); `conclude`. A step
/// that fails ends the attempt and puts back what `choose` took, so that the next sync tries again.
class LogSync {
  public:
    enum class Purpose {
        sync,
        /// The same for somebody who waits: the log gets ready for the next one.
        awaited_sync,
        /// And what a start after a crash believes unread once the checkpoint file names the end: producers, and indexes.
        checkpoint,
        /// Writes everything that a start after a clean stop believes unread, and closes the log.
        close,
    };

    /// `log` has a state. Waits while somebody else syncs it, or with `only_if_idle` does not: see `is_begun`.
    LogSync(LogCore& log, Purpose purpose, bool only_if_idle = false);
    ~LogSync();
    LogSync(const LogSync&) = delete;
    LogSync& operator=(const LogSync&) = delete;

    [[nodiscard]] bool is_begun() const { return begun_; }
    /// All steps, for one log alone. Returns where the sync ended.
    [[nodiscard]] StorageResult<Offset> run();

    [[nodiscard]] StorageResult<void> choose();
    /// Something is to become durable. False: `conclude` is all that is left.
    [[nodiscard]] bool has_work() const;
    [[nodiscard]] StorageResult<void> sync_content();
    /// Writes the new epochs beside the old ones. A full disk is no failure: see `put_off_epochs`.
    [[nodiscard]] StorageResult<void> stage_epochs(bool durable);
    [[nodiscard]] StorageResult<void> rename_epochs();
    [[nodiscard]] bool has_unsynced_names() const { return sync_names_ || sync_parent_; }
    [[nodiscard]] bool has_unsynced_parent() const { return sync_parent_; }
    /// Those in the partition's own directory, and its name in the directory of all logs.
    [[nodiscard]] StorageResult<void> sync_names();
    [[nodiscard]] StorageResult<void> sync_parent();
    /// Moves the recovery point and returns where the sync ended, or closes the log.
    [[nodiscard]] StorageResult<Offset> conclude();
    /// The attempt failed; returns what is to be told of it.
    [[nodiscard]] StorageError put_back(StorageError error);

  private:
    void choose_segments() REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> write_caches() REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> write_caches_for_good() REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> write_caches_of_checkpoint() REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> sync_segment(Segment& segment);
    /// Retention, or a client, was faster.
    [[nodiscard]] bool is_removed(const std::shared_ptr<Segment>& segment) const;
    [[nodiscard]] StorageResult<void> put_off_epochs(StorageError error);
    [[nodiscard]] StorageError closed_error() const { return {StorageError::Kind::closed, 0, "the log is closed"}; }
    [[nodiscard]] FileSystem& file_system() const;

    PartitionLogState& state_;
    const Purpose purpose_;
    bool begun_ = false;
    Offset end_{0};
    /// What a start may believe unread once this sync succeeded.
    Offset vouched_end_{0};
    /// What a checkpoint takes off `bytes_since_checkpoint`.
    std::uint64_t checkpointed_bytes_ = 0;
    /// What could not be written for a start to believe it, a full disk for example: the sync goes on without, and a
    /// checkpoint then tells of it.
    std::optional<StorageError> caches_failure_;
    std::vector<std::shared_ptr<Segment>> unsynced_;
    std::shared_ptr<Segment> active_;
    std::vector<std::shared_ptr<File>> aborted_files_;
    std::optional<std::string> epochs_text_;
    bool sync_active_indexes_ = false;
    bool sync_names_ = false;
    bool sync_parent_ = false;
};

/// With fewer logs than this each is synced by itself: then nobody waits for what others wrote to the same volume.
inline constexpr std::size_t kFewestSyncedTogether = 64;
/// More logs than this are synced in several rounds, which bounds the memory.
inline constexpr std::size_t kMostSyncedTogether = 16384;

/// Syncs (or closes) many logs of one directory, which lies on `volume`: two syncs of the whole volume in place of
/// several for each log, or, where the volume cannot vouch for itself, one by one. Logs that somebody else is syncing at
/// the moment are left out of a sync, and checkpointed after the others; deleted ones are left out. Goes on after a failure of one log, and
/// returns the first one, or one of kind `sync_failed` when there is any. Blocks on the device.
[[nodiscard]] StorageResult<void> sync_logs(Volume& volume, std::span<const std::shared_ptr<PartitionLog>> logs,
                                            LogSync::Purpose purpose);

}  // namespace partita
