#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/checkpoint_files.h"
#include "storage/partition_log.h"
#include "storage/partition_name.h"

namespace partita {

/// The partitions and leftovers that a start found in a data directory, judged by directory names.
struct DirectoryListing {
    std::vector<PartitionName> partitions;
    /// Leftovers of interrupted deletions.
    std::vector<std::string> deleted;
};
[[nodiscard]] StorageResult<DirectoryListing> list_partitions(FileSystem& file_system, const std::string& directory);

/// A partition that a start tried to open. If opening failed, `report` holds the error, and nothing in the directory was changed.
struct OpenedPartition {
    PartitionName name;
    std::shared_ptr<PartitionLog> log;
    StorageResult<RecoveryReport> report;
    /// A power failure cut off its partition.metadata, so its id has no meaning.
    bool is_cut_off = false;
};
struct OpenPartitionsOptions {
    std::size_t threads = 1;
    /// The config of the logs until a topic claims them.
    std::shared_ptr<const LogConfig> config;
    bool was_clean = false;
    bool is_foreign = false;
    bool was_taken_over = false;
    TimestampMs now{0};
};
/// Recovers each partition with the offsets that the checkpoint files have for it, on several threads. Returns when all are done;
/// the result is in the order of `names`.
[[nodiscard]] std::vector<OpenedPartition> open_partitions(const LogEnvironment& environment, std::vector<PartitionName> names,
                                                           const CheckpointFiles::Offsets& offsets,
                                                           const OpenPartitionsOptions& options);

/// How a directory that a start found relates to a topic that claims its name.
enum class FoundFor : std::uint8_t {
    this_topic,
    /// The directory names no topic id, and counts as this topic's.
    this_topic_unnamed,
    /// The directory belongs to another topic, or to an unknown one.
    another_topic,
};
/// Judges a found directory. Pure.
///
/// - `found`: the id in the directory, zero if it has none.
/// - `is_cut_off`: see OpenedPartition.
/// - `claiming`: the topic's id, zero if the catalog knows none.
/// - `is_made_now`: the partition is being made now. A directory without an id then belongs to another topic: a power failure may
///   have undone the making of that topic and left its directory.
[[nodiscard]] FoundFor found_for(const TopicId& found, bool is_cut_off, const TopicId& claiming, bool is_made_now);

/// The partitions that a start found and that no topic has claimed. Not thread-safe.
class FoundLogs {
  public:
    struct Found {
        std::shared_ptr<PartitionLog> log;
        bool is_cut_off = false;
    };

    /// Adds a partition that was opened, or whose claim was taken back.
    void add(PartitionName name, Found found) { logs_.insert_or_assign(std::move(name), std::move(found)); }
    /// Adds a partition that could not be opened. `log_start`: its log start in the checkpoint files, or kNoOffset.
    void add_unreadable(PartitionName name, StorageError error, Offset log_start);

    /// Null if not found. Valid until `erase`.
    [[nodiscard]] const Found* find(const PartitionName& name) const;
    /// Why the partition's directory could not be opened. Null if it was opened or is missing. Valid until `erase`.
    [[nodiscard]] const StorageError* unreadable(const PartitionName& name) const;
    void erase(const PartitionName& name);
    /// True if the start found a directory, readable or not, that may be a partition of the topic.
    [[nodiscard]] bool has_any_of(const std::string& topic) const;
    [[nodiscard]] bool has_unreadable() const { return !unreadable_.empty(); }
    /// All that were opened, ascending.
    [[nodiscard]] const std::map<PartitionName, Found>& logs() const { return logs_; }
    /// The log starts that `add_unreadable` got. The checkpoint files keep them until the partitions can be opened.
    [[nodiscard]] OffsetCheckpoint unreadable_log_starts() const;
    /// From now on a cut-off partition.metadata counts as missing.
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
