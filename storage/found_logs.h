#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/checkpoint_files.h"
#include "storage/partition_log.h"
#include "storage/partition_name.h"

namespace partita {

/// What lies in a data directory at a start, by the names of its directories.
struct DirectoryListing {
    std::vector<PartitionName> partitions;
    /// Leftovers of interrupted deletions.
    std::vector<std::string> deleted;
};
[[nodiscard]] StorageResult<DirectoryListing> list_partitions(FileSystem& file_system, const std::string& directory);

/// A partition that a start has opened, or could not open: then `report` says why, and nothing of it was changed.
struct OpenedPartition {
    PartitionName name;
    std::shared_ptr<PartitionLog> log;
    StorageResult<RecoveryReport> report;
    /// A power failure cut its partition.metadata off, so that its id says nothing.
    bool is_cut_off = false;
};
struct OpenPartitionsOptions {
    std::size_t threads = 1;
    /// Until a topic is claimed, the config of its logs.
    std::shared_ptr<const LogConfig> config;
    bool was_clean = false;
    bool is_foreign = false;
    TimestampMs now{0};
};
/// Recovers each partition with what the checkpoint files tell of it; on several threads, as long as that takes. The result is in
/// the order of `names`.
[[nodiscard]] std::vector<OpenedPartition> open_partitions(const LogEnvironment& environment, std::vector<PartitionName> names,
                                                           const CheckpointFiles::Offsets& offsets,
                                                           const OpenPartitionsOptions& options);

/// What a directory that a start found is to a topic that claims its name.
enum class FoundFor : std::uint8_t {
    this_topic,
    /// It names no topic id, and is taken for this topic's.
    this_topic_unnamed,
    /// It belongs to another topic, or nobody knows to which.
    another_topic,
};
/// `found`: the id in the directory, zero for none; `is_cut_off`: see OpenedPartition; `claiming`: the topic's id, zero in a
/// catalog that knows none; `is_made_now`: the partition is only made now. Then it is not what a directory without an id holds: a
/// power failure may have left that of a topic whose making it took. Pure.
[[nodiscard]] FoundFor found_for(const TopicId& found, bool is_cut_off, const TopicId& claiming, bool is_made_now);

/// The partitions that a start found and nobody has claimed. Not thread-safe.
class FoundLogs {
  public:
    struct Found {
        std::shared_ptr<PartitionLog> log;
        bool is_cut_off = false;
    };

    /// One that was opened, or whose claim was taken back.
    void add(PartitionName name, Found found) { logs_.insert_or_assign(std::move(name), std::move(found)); }
    /// One that could not be opened. `log_start`: what the checkpoint files tell of it, or kNoOffset.
    void add_unreadable(PartitionName name, StorageError error, Offset log_start);

    /// Null when there is none. Valid until `erase`.
    [[nodiscard]] const Found* find(const PartitionName& name) const;
    /// Why the partition's directory could not be opened; null when it could, or there is none. Valid until `erase`.
    [[nodiscard]] const StorageError* unreadable(const PartitionName& name) const;
    void erase(const PartitionName& name);
    /// True when something was found, readable or not, that may be a partition of the topic.
    [[nodiscard]] bool has_any_of(const std::string& topic) const;
    [[nodiscard]] bool has_unreadable() const { return !unreadable_.empty(); }
    /// All that were opened, ascending.
    [[nodiscard]] const std::map<PartitionName, Found>& logs() const { return logs_; }
    /// The log starts of those that could not be opened, as `add_unreadable` was told: to be kept in the files until they can.
    [[nodiscard]] OffsetCheckpoint unreadable_log_starts() const;
    /// From now on a partition.metadata that was cut off counts as none.
    void believe_names();

  private:
    struct Unreadable {
        StorageError error;
        Offset log_start = kNoOffset;
    };
    std::map<PartitionName, Found> logs_;
    std::map<PartitionName, Unreadable> unreadable_;
};

}  // namespace partita
