#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/partition_log.h"
#include "storage/partition_log_state.h"

namespace partita {

/// One sync of one log, in steps, so that thousands of logs can share their waits for the device (`sync_logs`).
///
/// `choose` selects the data to sync and writes small caches to the page cache, under the append mutex. All waits for the device
/// happen without that mutex, because producers take it on reactor threads. The steps, in this order:
///
/// - `choose`.
/// - The content becomes durable: `sync_content`; or `write_back`, `stage_epochs` and a sync of the whole volume.
/// - `rename_epochs`.
/// - The names become durable: `sync_names` and `sync_parent`; or the volume again, if an epoch file was renamed.
/// - `conclude`.
///
/// When a step fails, the caller ends the attempt with `put_back`. It gives back everything that `choose` took, so that the next
/// sync tries again.
class LogSync {
  public:
    enum class Purpose {
        sync,
        /// Like `sync`, for a caller that waits: the log also prepares for the next such sync.
        awaited_sync,
        /// Like `sync`, and also writes the data that a start after a crash trusts unread, once the checkpoint file has this end:
        /// producers, leader epochs and indexes.
        checkpoint,
        /// Writes everything that a start after a clean stop trusts unread, and closes the log.
        close,
    };

    /// `log` has a state. Waits while another thread syncs the log; with `only_if_idle` it does not wait, see `is_begun`.
    LogSync(LogCore& log, Purpose purpose, bool only_if_idle = false);
    ~LogSync();
    LogSync(const LogSync&) = delete;
    LogSync& operator=(const LogSync&) = delete;

    [[nodiscard]] bool is_begun() const { return begun_; }
    /// Takes all steps for this log alone. Returns the offset where the sync ended.
    [[nodiscard]] StorageResult<Offset> run();

    [[nodiscard]] StorageResult<void> choose();
    /// True if the sync has data to make durable. Otherwise only `conclude` is left.
    [[nodiscard]] bool has_work() const;
    [[nodiscard]] StorageResult<void> sync_content();
    /// Sends the records to the device in pieces, while producers go on; `sync_content` begins with it. Does nothing for a caller
    /// that waits, nor at a close, when there are no producers.
    [[nodiscard]] StorageResult<void> write_back();
    /// Writes the new epochs beside the old ones. A full disk is no failure, except at a close: see `put_off_epochs`.
    [[nodiscard]] StorageResult<void> stage_epochs(bool durable);
    [[nodiscard]] StorageResult<void> rename_epochs();
    [[nodiscard]] bool has_unsynced_names() const { return sync_names_ || sync_parent_; }
    /// True if `rename_epochs` has a file to rename. If not, one sync of the volume makes all names of this log durable.
    [[nodiscard]] bool renames_epochs() const { return epochs_text_.has_value(); }
    [[nodiscard]] bool has_unsynced_parent() const { return sync_parent_; }
    /// Syncs the names in the partition's own directory; `sync_parent` syncs its name in the directory of all logs.
    [[nodiscard]] StorageResult<void> sync_names();
    [[nodiscard]] StorageResult<void> sync_parent();
    /// Moves the recovery point and returns the offset where the sync ended, or closes the log.
    [[nodiscard]] StorageResult<Offset> conclude();
    /// Ends a failed attempt; returns the error to report.
    [[nodiscard]] StorageError put_back(StorageError error);

  private:
    /// True if a start will trust files of this sync unread, so all of them must be on the device. Behind the last checkpoint a
    /// start walks over the batches and finds epochs again. (Where a cleaning removed an epoch's first batch, the epoch begins
    /// with its first remaining batch.)
    [[nodiscard]] bool is_to_be_trusted() const { return purpose_ == Purpose::checkpoint || purpose_ == Purpose::close; }
    void choose_segments() REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> write_caches() REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> write_caches_for_good() REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> write_caches_of_checkpoint() REQUIRES(state_.core.append_mutex);
    /// Writes the pending entries of one index. If this makes a file, its name becomes durable with this sync.
    [[nodiscard]] StorageResult<void> write_index(IndexFile& index) REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> write_aborted(Segment& segment) REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> sync_segment(Segment& segment);
    /// Syncs the file that names the directory's topic, before the directory's name is durable: a name alone may also be an
    /// earlier topic's.
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
    /// Once this sync has succeeded, a start may trust everything below this offset unread.
    Offset vouched_end_{0};
    /// The bytes that a checkpoint subtracts from `bytes_since_checkpoint`.
    std::uint64_t checkpointed_bytes_ = 0;
    /// Why the sync could not write data that a start would trust, for example on a full disk. The sync goes on without it; a
    /// checkpoint then reports this error.
    std::optional<StorageError> caches_failure_;
    std::vector<std::shared_ptr<Segment>> unsynced_;
    std::shared_ptr<Segment> active_;
    std::vector<std::shared_ptr<AbortedIndex>> aborted_;
    std::optional<std::string> epochs_text_;
    bool sync_active_indexes_ = false;
    bool sync_names_ = false;
    bool sync_parent_ = false;
};

/// A sync other than a checkpoint writes the active segment's index entries only if at least this many are pending: a page of
/// them.
inline constexpr std::size_t kIndexEntriesWorthAWrite = 512;
/// A background sync sends data to the device in pieces of this size, one after the other. Hundreds of megabytes sent at once
/// would fill the device's queue. A producer that needs a free block from a bitmap on the disk would wait behind them.
inline constexpr std::uint64_t kWriteBackBytes = 4 * 1024 * 1024;
/// With fewer logs than this each log is synced by itself, so that no caller waits for data of other logs on the same volume.
inline constexpr std::size_t kFewestSyncedTogether = 64;
/// More logs than this are synced in several rounds, which bounds the memory.
inline constexpr std::size_t kMostSyncedTogether = 16384;

/// Syncs (or closes) many logs of one directory, which lies on `volume`. Uses one or two syncs of the whole volume instead of
/// several for each log. Where the volume gives no guarantee, it syncs one log after the other. Skips deleted logs. A log that
/// another thread is syncing is left out of a sync, and gets its checkpoint after the others. Goes on after a failure of one log.
/// Returns the first failure, or one of kind `sync_failed` if there is any. Blocks on the device.
[[nodiscard]] StorageResult<void> sync_logs(Volume& volume, std::span<const std::shared_ptr<PartitionLog>> logs,
                                            LogSync::Purpose purpose);

}  // namespace partita
