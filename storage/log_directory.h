#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "protocol/mutex.h"
#include "protocol/required.h"
#include "storage/checkpoint_text.h"
#include "storage/partition_log.h"

namespace partita {

/// A data directory in Kafka's layout, held by one process at a time.
///
/// Files of its own: `.lock` (who holds it), `partita.properties` (format version, and whether a Kafka had the directory
/// before), `recovery-point-offset-checkpoint`,
/// `log-start-offset-checkpoint` and `cleaner-offset-checkpoint` (Kafka's text format) and `.kafka_cleanshutdown`. A
/// directory written by Kafka is accepted; its other files are left alone.
///
/// The recovery point on file is where the log's last checkpoint ended (PartitionLog::checkpointed_end). When a start
/// finds less than that point promises, it writes the file anew before anybody appends. The checkpoint files know
/// partitions by name. When a partition is made under a name that they still have for another topic, its directory gets
/// a mark: as long as the mark is there, a start after a crash takes nothing from these files for it. The mark goes
/// when the files have been written again.
///
/// Order at a clean stop: all logs are synced and closed together; then the checkpoints are written and synced; the
/// clean mark comes last, and only when everything before succeeded. A start removes the mark first (and syncs the
/// removal), so that a crash during recovery is never taken for a clean stop.
///
/// Deleting a partition renames its directory to `<name>.<random>-delete` before any file is unlinked, so that a crash
/// cannot bring half of it back. The next start finds leftovers.
///
/// Thread-safe; calls that touch the disk say so.
class LogDirectory {
  public:
    /// What we write into partita.properties; a higher number on disk is refused.
    static constexpr int kFormatVersion = 1;

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
        /// Directories that could not be opened: they are left untouched and are not served.
        std::vector<std::pair<std::string, StorageError>> failed;
        /// Leftovers of interrupted deletions; `purge_removed` unlinks them.
        std::vector<std::string> leftovers;
    };

    /// Creates the directory when missing, locks it, checks the format version, notes leftovers
    /// and recovers every partition found. Blocks on the disk.
    [[nodiscard]] static StorageResult<std::unique_ptr<LogDirectory>> open(FileSystem& file_system, OpenFiles& open_files,
                                                                           const std::string& path, const Options& options);
    /// Writes no clean mark; see `close`.
    ~LogDirectory();
    LogDirectory(const LogDirectory&) = delete;
    LogDirectory& operator=(const LogDirectory&) = delete;

    [[nodiscard]] const OpenReport& open_report() const { return open_report_; }
    [[nodiscard]] const std::string& path() const { return environment_.directory; }

    /// The log of a partition of a topic that the catalog knows: the one found on disk if its partition.metadata names
    /// the same topic id (or none, as in old Kafka directories), else a new, empty one. A directory of the same name
    /// that belongs to another topic id is renamed first: for deletion when the removal of that topic was announced,
    /// else to `<name>.<random>-stray`, as Kafka does; `take_new_strays` reports it, because it may be somebody's data.
    /// So is one whose partition.metadata a power failure cut off: nothing in it was ever synced, and it may be of an earlier
    /// topic of the name.
    /// Touches the disk only to rename, or to write a missing topic id.
    ///
    /// When the directory could not be opened at the start: an error, or, for a partition that is only made now and so cannot be
    /// what the directory holds, a stray too. So is then one that names no topic id.
    enum class Unreadable : std::uint8_t { is_an_error, is_a_stray };
    [[nodiscard]] StorageResult<std::shared_ptr<PartitionLog>> claim(std::shared_ptr<const LogTopic> topic,
                                                                     PartitionIndex partition,
                                                                     std::shared_ptr<const LogConfig> config,
                                                                     Unreadable unreadable = Unreadable::is_an_error);

    /// `claim` for the partitions [first, end). The new logs share a block of memory.
    [[nodiscard]] StorageResult<std::vector<std::shared_ptr<PartitionLog>>> claim_range(
        const std::shared_ptr<const LogTopic>& topic, PartitionIndex first, PartitionIndex end,
        const std::shared_ptr<const LogConfig>& config, Unreadable unreadable = Unreadable::is_an_error);

    /// Takes back the claim of partitions that are not needed after all, because their topic was not made or does not
    /// grow. Logs that were found on disk can be claimed again.
    void release(std::span<const std::shared_ptr<PartitionLog>> logs);

    /// Logs found on disk that nobody has claimed: topics of a Kafka directory to adopt, or strays.
    struct Unclaimed {
        std::string topic;
        TopicId topic_id;
        PartitionIndex partition;
        Offset log_end_offset;
    };
    [[nodiscard]] std::vector<Unclaimed> unclaimed() const;
    /// Before the first start of ours a Kafka had the directory, or somebody laid partitions there. Otherwise everything in it
    /// is our own, also what a power failure left without the catalog that knew it.
    [[nodiscard]] bool was_taken_over() const { return was_taken_over_; }
    /// Directories whose partition.metadata was cut off are claimed as if they had none: somebody vouches for them.
    void believe_names() {
        const MutexLock lock(mutex_);
        cut_off_.clear();
    }

    /// A directory that was renamed out of the way of a topic that it does not belong to.
    struct Stray {
        std::string directory;
        std::string renamed_to;
        /// The directory could not be opened. Otherwise it names another topic id.
        bool is_unreadable = false;
    };
    /// The strays since the last call.
    [[nodiscard]] std::vector<Stray> take_new_strays();

    /// To delete a topic, the caller announces the removal, lets the catalog forget the topic, calls `remove` for its
    /// partitions, and concludes. After a crash in between, `remove_announced` deletes what belongs to an announced
    /// topic that nobody claims; other unclaimed directories are left alone. Best effort: when the note cannot be
    /// written (disk full), such a crash leaves a directory that is reported as unclaimed. The caller also concludes
    /// when the catalog kept the topic.
    void announce_removals(std::span<const TopicId> topics);
    void conclude_removals(std::span<const TopicId> topics);
    /// Those that were announced, and not concluded when the process ended. Until the first `purge_removed`.
    [[nodiscard]] std::vector<TopicId> announced_removals() const;
    /// At the start, when all topics were claimed: sets aside what interrupted deletions left.
    [[nodiscard]] StorageResult<void> remove_announced();

    /// Deletes a partition: its log fails with `closed` from now on, and its name is free at once. Renames a directory;
    /// `purge_removed` frees the space.
    [[nodiscard]] StorageResult<void> remove(const std::shared_ptr<PartitionLog>& log);
    /// Unlinks what `remove` set aside. Slow for large topics: for a background thread. What cannot be unlinked is kept
    /// for the next call.
    [[nodiscard]] StorageResult<void> purge_removed();

    /// Every claimed log that has files.
    [[nodiscard]] std::vector<std::shared_ptr<PartitionLog>> logs_with_files() const;
    /// Logs with unsynced data, for the background sync.
    [[nodiscard]] std::vector<std::shared_ptr<PartitionLog>> logs_to_sync() const;
    /// The volume that the directory lies on, for `sync_logs`. It was opened before anything was written.
    [[nodiscard]] Volume& volume() { return *volume_; }
    /// Logs with appends since their last checkpoint.
    [[nodiscard]] std::vector<std::shared_ptr<PartitionLog>> logs_to_checkpoint() const;

    /// About how many bytes a start after a crash would have to read.
    [[nodiscard]] std::uint64_t bytes_since_checkpoint() const;

    /// Writes recovery points and log starts, as the logs have them now, to their checkpoint files. Blocks on the
    /// device. After a failure the old files stay, which is harmless, and the caller may try again.
    [[nodiscard]] StorageResult<void> write_checkpoints();

    /// Writes down how far every log is compacted. To be called after a cleaning; blocks on the device. A failure costs
    /// a repeated cleaning after the next start.
    [[nodiscard]] StorageResult<void> write_cleaner_checkpoint();

    /// Closes all logs, writes checkpoints, and last the clean mark. After a failure there is no mark, and the next
    /// start recovers. The caller calls it once, and then only destroys the directory.
    [[nodiscard]] StorageResult<void> close();

  private:
    /// Indexed by partition; null where nobody claimed it.
    using Partitions = std::vector<std::shared_ptr<PartitionLog>>;
    /// Topic and partition, as the checkpoint files name them.
    using PartitionKey = std::pair<std::string, std::int32_t>;
    /// A name under which the checkpoint files may tell of a partition that is gone.
    struct Stale {
        /// The value of `stale_count_` when it was noted last.
        std::uint64_t since = 0;
        /// cleaner-offset-checkpoint may tell of it too.
        bool is_cleaned = false;
    };

    LogDirectory(FileSystem& file_system, OpenFiles& open_files, std::string path);

    [[nodiscard]] StorageResult<void> take_lock(TimestampMs now);
    [[nodiscard]] StorageResult<void> check_format_version();
    /// There are partitions, or a Kafka's properties.
    [[nodiscard]] StorageResult<bool> holds_partitions();
    /// Removes the clean mark, durably; true when there was one.
    [[nodiscard]] StorageResult<bool> take_clean_mark();
    [[nodiscard]] StorageResult<void> load_partitions(const Options& options) EXCLUDES(mutex_);
    [[nodiscard]] StorageResult<OffsetCheckpoint> read_checkpoint(std::string_view name);
    /// Writes the checkpoint files durably, after a recovery that found less than they promise.
    [[nodiscard]] StorageResult<void> replace_recovery_points();
    /// The log is claimed no more.
    void forget_claim(const std::shared_ptr<PartitionLog>& log) REQUIRES(mutex_);
    /// True when a start found something that may be a partition of the topic.
    [[nodiscard]] bool found_any_of(const std::string& topic) const REQUIRES(mutex_);
    /// The log that the start found for the partition; null when there is none (any more).
    [[nodiscard]] StorageResult<std::shared_ptr<PartitionLog>> take_found(const std::shared_ptr<const LogTopic>& topic,
                                                                          PartitionIndex partition,
                                                                          const std::shared_ptr<const LogConfig>& config,
                                                                          Unreadable unreadable) REQUIRES(mutex_);
    /// Renames a partition's directory out of the way.
    [[nodiscard]] StorageResult<void> set_aside_for_deletion(const std::string& directory_name) REQUIRES(mutex_);
    [[nodiscard]] StorageResult<void> set_aside_as_stray(const std::string& directory_name, bool is_unreadable) REQUIRES(mutex_);
    /// Writes the announced removals that are still open.
    [[nodiscard]] StorageResult<void> write_removals() REQUIRES(mutex_);
    void read_removals() REQUIRES(mutex_);
    void note_stale(const PartitionKey& key, bool is_cleaned) EXCLUDES(stale_mutex_);
    /// See LogEnvironment::disown_predecessor: leaves a mark in the directory of a partition that is made under a name
    /// which the checkpoint files still have. It goes when they were written anew.
    [[nodiscard]] StorageResult<void> disown_predecessor(const PartitionKey& key) EXCLUDES(stale_mutex_);
    [[nodiscard]] std::string path_of_newness(const PartitionKey& key) const;
    /// What was noted until then is in the checkpoint files no more.
    void settle_stale(std::uint64_t until) EXCLUDES(stale_mutex_);
    [[nodiscard]] StorageResult<void> write_offset_checkpoints() REQUIRES(checkpoint_mutex_);
    [[nodiscard]] StorageResult<void> write_cleaner_offsets() REQUIRES(checkpoint_mutex_);
    [[nodiscard]] std::string path_of(std::string_view name) const;
    /// Every log for which `wanted` is true.
    template <class Wanted>
    [[nodiscard]] std::vector<std::shared_ptr<PartitionLog>> select_logs(const Wanted& wanted) const;

    LogEnvironment environment_;
    std::unique_ptr<FileLock> lock_;
    std::unique_ptr<Volume> volume_;
    OpenReport open_report_;
    /// This is the first start of ours in a directory that was another broker's.
    bool is_foreign_ = false;
    bool was_taken_over_ = false;

    /// Held by who writes checkpoint files.
    Mutex checkpoint_mutex_{LockRank::checkpoint_files};

    mutable Mutex mutex_{LockRank::log_directory};
    std::map<std::string, Partitions> claimed_ GUARDED_BY(mutex_);
    std::map<PartitionKey, std::shared_ptr<PartitionLog>> unclaimed_ GUARDED_BY(mutex_);
    /// Found with a partition.metadata that cannot be read, after a crash.
    std::set<PartitionKey> cut_off_ GUARDED_BY(mutex_);
    std::vector<std::string> to_purge_ GUARDED_BY(mutex_);
    std::vector<Stray> new_strays_ GUARDED_BY(mutex_);
    /// Announced removals; true: concluded, so the note may go.
    std::map<TopicId, bool> removals_ GUARDED_BY(mutex_);
    bool removals_on_disk_ GUARDED_BY(mutex_) = false;
    /// Checkpoint entries of partitions that could not be opened: kept until they can.
    OffsetCheckpoint failed_log_starts_ GUARDED_BY(mutex_);

    /// Apart from the others, as a log's first append asks for these with its own lock held, which whoever holds mutex_ may
    /// be about to take.
    Mutex stale_mutex_{LockRank::stale_checkpoints};
    std::map<PartitionKey, Stale> stale_ GUARDED_BY(stale_mutex_);
    std::uint64_t stale_count_ GUARDED_BY(stale_mutex_) = 0;
};

}  // namespace partita
