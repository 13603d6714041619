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
/// `choose` selects what becomes durable and writes small caches to the page cache, under the append mutex. Everything
/// that waits for the device happens without that mutex, because producers take it on reactor threads. The steps, in
/// this order: `choose`; the content becomes durable (`sync_content`, or `write_back`, `stage_epochs` and a sync of the whole
/// volume); `rename_epochs`; the names become durable (`sync_names` and `sync_parent`, or the volume again if an epoch
/// file was renamed); `conclude`. When a step fails, the caller ends the attempt with `put_back`, which returns what `choose`
/// took, so that the next sync tries again.
class LogSync {
  public:
    enum class Purpose {
        sync,
        /// The same for a caller that waits: the log also prepares for the next such sync.
        awaited_sync,
        /// As `sync`, and also writes what a start after a crash trusts unread once the checkpoint file has this end:
        /// producers, leader epochs and indexes.
        checkpoint,
        /// Writes everything that a start after a clean stop trusts unread, and closes the log.
        close,
    };

    /// `log` has a state. Waits while somebody else syncs it, or with `only_if_idle` does not: see `is_begun`.
    LogSync(LogCore& log, Purpose purpose, bool only_if_idle = false);
    ~LogSync();
    LogSync(const LogSync&) = delete;
    LogSync& operator=(const LogSync&) = delete;

    [[nodiscard]] bool is_begun() const { return begun_; }
    /// Takes all steps for this log alone. Returns where the sync ended.
    [[nodiscard]] StorageResult<Offset> run();

    [[nodiscard]] StorageResult<void> choose();
    /// True when something is to become durable. False: only `conclude` is left.
    [[nodiscard]] bool has_work() const;
    [[nodiscard]] StorageResult<void> sync_content();
    /// Sends the records to the device in pieces, while producers go on; `sync_content` begins with it. Does nothing for a caller
    /// that waits, and at a close, when there are none.
    [[nodiscard]] StorageResult<void> write_back();
    /// Writes the new epochs beside the old ones. A full disk is no failure, except for a close: see `put_off_epochs`.
    [[nodiscard]] StorageResult<void> stage_epochs(bool durable);
    [[nodiscard]] StorageResult<void> rename_epochs();
    [[nodiscard]] bool has_unsynced_names() const { return sync_names_ || sync_parent_; }
    /// True when `rename_epochs` has something to rename: before that, a sync of the volume makes all names of this log durable.
    [[nodiscard]] bool renames_epochs() const { return epochs_text_.has_value(); }
    [[nodiscard]] bool has_unsynced_parent() const { return sync_parent_; }
    /// Syncs the names in the partition's own directory; `sync_parent` syncs its name in the directory of all logs.
    [[nodiscard]] StorageResult<void> sync_names();
    [[nodiscard]] StorageResult<void> sync_parent();
    /// Moves the recovery point and returns where the sync ended, or closes the log.
    [[nodiscard]] StorageResult<Offset> conclude();
    /// Ends a failed attempt; returns the error to report.
    [[nodiscard]] StorageError put_back(StorageError error);

  private:
    /// A start will trust what this sync leaves unread: all that it trusts has to be on the device. Behind the last checkpoint it
    /// walks over the batches and finds epochs again. (Where a cleaning removed the first batch of one, it finds that the epoch
    /// begins with the first batch that is left.)
    [[nodiscard]] bool is_to_be_trusted() const { return purpose_ == Purpose::checkpoint || purpose_ == Purpose::close; }
    void choose_segments() REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> write_caches() REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> write_caches_for_good() REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> write_caches_of_checkpoint() REQUIRES(state_.core.append_mutex);
    /// Writes the pending entries of one. The name of a file that this makes becomes durable with this sync.
    [[nodiscard]] StorageResult<void> write_index(IndexFile& index) REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> write_aborted(Segment& segment) REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> sync_segment(Segment& segment);
    /// Which topic the directory is of, before the directory's name is durable: a name alone may be an earlier topic's too.
    [[nodiscard]] StorageResult<void> sync_identity();
    /// True when retention or a client has removed the segment meanwhile.
    [[nodiscard]] bool is_removed(const std::shared_ptr<Segment>& segment) const;
    [[nodiscard]] StorageResult<void> put_off_epochs(StorageError error);
    [[nodiscard]] StorageError closed_error() const { return {StorageError::Kind::closed, 0, "the log is closed"}; }
    [[nodiscard]] FileSystem& file_system() const;

    PartitionLogState& state_;
    const Purpose purpose_;
    bool begun_ = false;
    Offset end_{0};
    /// A start may trust everything below this offset unread once this sync has succeeded.
    Offset vouched_end_{0};
    /// The bytes that a checkpoint subtracts from `bytes_since_checkpoint`.
    std::uint64_t checkpointed_bytes_ = 0;
    /// Why something that a start would trust could not be written, for example on a full disk. The sync goes on
    /// without it; a checkpoint then reports this error.
    std::optional<StorageError> caches_failure_;
    std::vector<std::shared_ptr<Segment>> unsynced_;
    std::shared_ptr<Segment> active_;
    std::vector<std::shared_ptr<AbortedIndex>> aborted_;
    std::optional<std::string> epochs_text_;
    bool sync_active_indexes_ = false;
    bool sync_names_ = false;
    bool sync_parent_ = false;
};

/// A sync that is no checkpoint writes the active segment's index entries only when it has so many: a page of them.
inline constexpr std::size_t kIndexEntriesWorthAWrite = 512;
/// What is synced in the background is sent to the device in pieces of this size, one after the other. Sent at once, hundreds of
/// megabytes fill the device's queue, and a producer whose next block has to be found in a bitmap on the disk waits behind them.
inline constexpr std::uint64_t kWriteBackBytes = 4 * 1024 * 1024;
/// With fewer logs than this each is synced by itself, so that nobody waits for what others wrote to the same volume.
inline constexpr std::size_t kFewestSyncedTogether = 64;
/// More logs than this are synced in several rounds, which bounds the memory.
inline constexpr std::size_t kMostSyncedTogether = 16384;

/// Syncs (or closes) many logs of one directory, which lies on `volume`: with one or two syncs of the whole volume in place of
/// several for each log, or one log after the other where the volume cannot vouch for itself. Skips deleted logs. A log
/// that somebody else is syncing is left out of a sync, and gets its checkpoint after the others. Goes on after a
/// failure of one log, and returns the first failure, or one of kind `sync_failed` when there is any. Blocks on the
/// device.
[[nodiscard]] StorageResult<void> sync_logs(Volume& volume, std::span<const std::shared_ptr<PartitionLog>> logs,
                                            LogSync::Purpose purpose);

}  // namespace partita
