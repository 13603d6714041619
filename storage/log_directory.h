#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "protocol/mutex.h"
#include "protocol/required.h"
#include "storage/announced_removals.h"
#include "storage/checkpoint_files.h"
#include "storage/directory_hold.h"
#include "storage/found_logs.h"
#include "storage/partition_log.h"
#include "storage/set_aside.h"

namespace partita {

/// A data directory in Kafka's layout, held by one process at a time. It knows which log belongs to which partition of which
/// topic, and handles logs as topics come and go. It accepts a directory that Kafka wrote, and leaves Kafka's other files alone.
///
/// Its parts: DirectoryHold (lock, format, clean mark), FoundLogs (logs that the start found), CheckpointFiles, AnnouncedRemovals
/// (the note of deletions in progress), SetAside (renamed directories).
///
/// The recovery point on file is where the log's last checkpoint ended (PartitionLog::checkpointed_end). If a start finds less
/// than that point promises, it rewrites the file before any append.
///
/// Order at a clean stop: all logs are synced and closed together; then the checkpoints are written and synced. The clean mark
/// comes last, and only if everything before succeeded.
///
/// Deleting a partition renames its directory to `<name>.<random>-delete` before any file is unlinked, so that a crash cannot
/// bring half of it back. The next start finds the leftovers.
///
/// Thread-safe; calls that touch the disk say so.
class LogDirectory {
  public:
    struct Options {
        /// The number of threads that open partitions.
        std::size_t recovery_threads = 2;
        /// The config of logs found on disk, until their topic is claimed. Never null.
        Required<std::shared_ptr<const LogConfig>> default_config;
        TimestampMs now{0};
    };

    struct OpenReport {
        bool was_clean = false;
        /// One per partition directory found.
        std::vector<RecoveryReport> partitions;
        /// Directories that could not be opened. The broker leaves them untouched and does not serve them.
        std::vector<std::pair<std::string, StorageError>> failed;
        /// Leftovers of interrupted deletions; `purge_removed` unlinks them.
        std::vector<std::string> leftovers;
    };

    /// Creates the directory when missing, locks it, checks the format version, notes leftovers and recovers every partition
    /// found. Blocks on the disk.
    [[nodiscard]] static StorageResult<std::unique_ptr<LogDirectory>> open(FileSystem& file_system, OpenFiles& open_files,
                                                                           const std::string& path, const Options& options);
    /// Writes no clean mark; see `close`.
    ~LogDirectory();
    LogDirectory(const LogDirectory&) = delete;
    LogDirectory& operator=(const LogDirectory&) = delete;

    [[nodiscard]] const OpenReport& open_report() const { return open_report_; }
    [[nodiscard]] const std::string& path() const { return environment_.directory; }

    /// The log of a partition of a topic that the catalog knows. It is the one found on disk if its partition.metadata names the
    /// same topic id, or no id, as in old Kafka directories. Otherwise it is a new, empty one.
    ///
    /// A directory of the same name with another topic id is renamed first. If the removal of that topic was announced, it is
    /// renamed for deletion. Otherwise it becomes a stray, `<name>.<random>-stray`, as in Kafka; `take_new_strays` reports it,
    /// because it may hold a user's data. A directory whose partition.metadata a power failure cut off also becomes a stray:
    /// nothing in it was ever synced, and it may belong to an earlier topic of the name. Touches the disk only to rename, or to
    /// write a missing topic id.
    ///
    /// `Unreadable` decides about a directory that could not be opened at the start. `is_an_error` makes the claim fail.
    /// `is_a_stray` is for a partition that is being made now, whose data the directory cannot hold: the directory becomes a
    /// stray, and so does one that names no topic id. A directory in an unknown format makes the claim fail all the same.
    enum class Unreadable : std::uint8_t { is_an_error, is_a_stray };
    [[nodiscard]] StorageResult<std::shared_ptr<PartitionLog>> claim(std::shared_ptr<const LogTopic> topic,
                                                                     PartitionIndex partition,
                                                                     std::shared_ptr<const LogConfig> config,
                                                                     Unreadable unreadable = Unreadable::is_an_error);

    /// Claims the partitions [first, end). The new logs share a block of memory.
    [[nodiscard]] StorageResult<std::vector<std::shared_ptr<PartitionLog>>> claim_range(
        const std::shared_ptr<const LogTopic>& topic, PartitionIndex first, PartitionIndex end,
        const std::shared_ptr<const LogConfig>& config, Unreadable unreadable = Unreadable::is_an_error);

    /// Takes back the claim of partitions that the caller no longer needs, because their topic was not made or does not grow.
    /// Logs that were found on disk can be claimed again.
    void release(std::span<const std::shared_ptr<PartitionLog>> logs);

    /// Logs found on disk that no topic has claimed: topics of a Kafka directory to adopt, or strays.
    struct Unclaimed {
        std::string topic;
        TopicId topic_id;
        PartitionIndex partition;
        Offset log_end_offset;
        /// The directory holds a `.log` file, empty or not, as every partition of a Kafka does.
        bool has_segments = false;
    };
    [[nodiscard]] std::vector<Unclaimed> unclaimed() const;
    /// True if a Kafka used the directory before our first start, or if partitions were put there by hand. Otherwise everything
    /// in it is our own, including leftovers of a power failure that the catalog does not know.
    [[nodiscard]] bool was_taken_over() const { return hold_.was_taken_over; }
    /// From now on `claim` treats a cut-off partition.metadata as missing: the caller vouches for the names of the directories.
    void believe_names() {
        const MutexLock lock(mutex_);
        found_.believe_names();
    }

    using Stray = StrayDirectory;
    /// The strays since the last call.
    [[nodiscard]] std::vector<Stray> take_new_strays();

    /// To delete a topic, the caller announces the removal, lets the catalog forget the topic, calls `remove` for its partitions,
    /// and concludes. After a crash in between, `remove_announced` deletes unclaimed directories of announced topics; other
    /// unclaimed directories stay. Best effort: if the note cannot be written (disk full), such a crash leaves a directory that
    /// is reported as unclaimed. The caller also concludes when the catalog kept the topic.
    void announce_removals(std::span<const TopicId> topics);
    void conclude_removals(std::span<const TopicId> topics);
    /// The removals that were announced but not concluded when the process ended. Until the first `purge_removed`.
    [[nodiscard]] std::vector<TopicId> announced_removals() const;
    /// Sets aside the leftovers of interrupted deletions. Called at the start, when all topics were claimed.
    [[nodiscard]] StorageResult<void> remove_announced();

    /// Deletes a partition: its log fails with `closed` from now on, and its name is free at once. Renames a directory;
    /// `purge_removed` frees the space.
    [[nodiscard]] StorageResult<void> remove(const std::shared_ptr<PartitionLog>& log);
    /// Unlinks the directories that `remove` set aside. Slow for large topics: for a background thread. Directories that cannot
    /// be unlinked stay for the next call.
    [[nodiscard]] StorageResult<void> purge_removed();

    /// Every claimed log that has files.
    [[nodiscard]] std::vector<std::shared_ptr<PartitionLog>> logs_with_files() const;
    /// Logs for the background sync: those with unsynced data, and those with a window that may be idle.
    [[nodiscard]] std::vector<std::shared_ptr<PartitionLog>> logs_to_sync() const;
    /// The volume that holds the directory, for `sync_logs`. It was opened before anything was written.
    [[nodiscard]] Volume& volume() { return *volume_; }
    /// Logs with appends since their last checkpoint.
    [[nodiscard]] std::vector<std::shared_ptr<PartitionLog>> logs_to_checkpoint() const;

    /// About how many bytes a start after a crash would have to read.
    [[nodiscard]] std::uint64_t bytes_since_checkpoint() const;

    /// Writes the current recovery points and log starts of the logs to their checkpoint files. Blocks on the device. After a
    /// failure the old files stay, which is harmless, and the caller may try again.
    [[nodiscard]] StorageResult<void> write_checkpoints();

    /// Writes how far each log is compacted. Called after a cleaning; blocks on the device. A failure costs a repeated cleaning
    /// after the next start.
    [[nodiscard]] StorageResult<void> write_cleaner_checkpoint();

    /// Closes all logs, writes checkpoints, and last the clean mark. After a failure there is no mark, and the next
    /// start recovers. The caller calls it once, and then only destroys the directory.
    [[nodiscard]] StorageResult<void> close();

  private:
    /// Indexed by partition; null for an unclaimed one.
    using Partitions = std::vector<std::shared_ptr<PartitionLog>>;

    LogDirectory(FileSystem& file_system, OpenFiles& open_files, const std::string& path, std::unique_ptr<Volume> volume,
                 DirectoryHold hold);

    [[nodiscard]] StorageResult<void> load_partitions(const Options& options) EXCLUDES(mutex_);
    /// Notes the partitions that the start opened, and those that it could not open.
    void take_opened(std::vector<OpenedPartition> opened, const CheckpointFiles::Offsets& offsets) EXCLUDES(mutex_);
    /// Writes the checkpoint files durably, after a recovery that found less than they promise.
    [[nodiscard]] StorageResult<void> replace_recovery_points();
    /// Ends the log's claim.
    void forget_claim(const std::shared_ptr<PartitionLog>& log) REQUIRES(mutex_);
    /// The log that the start found for the partition; null if it found none, or no longer has it.
    [[nodiscard]] StorageResult<std::shared_ptr<PartitionLog>> take_found(const std::shared_ptr<const LogTopic>& topic,
                                                                          PartitionIndex partition,
                                                                          const std::shared_ptr<const LogConfig>& config,
                                                                          Unreadable unreadable) REQUIRES(mutex_);
    /// Notes that the log's directory will be deleted or renamed while the checkpoint files may still describe it. Called in the
    /// same critical section that takes the log off the books.
    void note_gone(const PartitionLog& log) REQUIRES(mutex_);
    [[nodiscard]] std::string path_of(std::string_view name) const;
    /// Every log for which `wanted` is true.
    template <class Wanted>
    [[nodiscard]] std::vector<std::shared_ptr<PartitionLog>> select_logs(const Wanted& wanted) const EXCLUDES(mutex_);

    LogEnvironment environment_;
    const DirectoryHold hold_;
    const std::unique_ptr<Volume> volume_;
    OpenReport open_report_;
    CheckpointFiles checkpoints_;

    mutable Mutex mutex_{LockRank::log_directory};
    std::map<std::string, Partitions> claimed_ GUARDED_BY(mutex_);
    FoundLogs found_ GUARDED_BY(mutex_);
    SetAside set_aside_ GUARDED_BY(mutex_);
    AnnouncedRemovals removals_ GUARDED_BY(mutex_);
};

}  // namespace partita
