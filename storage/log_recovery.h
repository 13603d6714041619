#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/partition_log.h"
#include "storage/partition_log_state.h"

namespace partita {

/// Opens the directory of one partition.
///
/// What is trusted: after a clean stop everything; otherwise what lies below the recovery point on file, where a
/// checkpoint ended. Trusted bytes are not read, except the headers behind the newest index entry and behind the newest
/// producer snapshot, which that checkpoint wrote (a log without snapshot has no batch of a producer with an id there).
/// Everything behind the recovery point is read and its CRC checked. When recovery finds less than that point promises,
/// RecoveryReport::recovery_point_is_void says so, and the caller must not leave the recovery point on file.
///
/// At the first bad batch behind the recovery point the log is cut, as Kafka does: offsets are dense, so no batch
/// behind a hole could be served under its old offset. But good data is never deleted because of its neighbour:
///   before   |good|good|BAD|good|   |next segment|
///   after    |good|good|            (log end)
///   aside    00..42.log.<position>.corrupt holds |BAD|good|, 00..99.log.corrupt is the next segment.
/// Only a torn tail (the bytes end inside the last batch, or are zeros) leaves nothing aside: no whole batch is in it.
/// When the bytes cannot be set aside (disk full), the partition is neither opened nor cut.
///
/// Indexes are caches: recovery drops entries that are implausible, or newer than what is trusted, and makes them anew.
/// It accepts files of a Kafka that was killed (preallocated, zero-filled indexes). A damaged index of aborted transactions is
/// made anew from the markers, also below the recovery point; one that is missing there is not noticed, as in Kafka.
class LogRecovery {
  public:
    LogRecovery(LogCore& log, PartitionLog::OpenHints hints);
    [[nodiscard]] StorageResult<RecoveryReport> run();

  private:
    struct Files {
        std::vector<Offset> segments;
        std::vector<Offset> snapshots;
        std::vector<Offset> aborted;
        bool has_epochs = false;
    };

    [[nodiscard]] StorageResult<Files> list_files();
    /// The log has less than the recovery point promises: starts again and trusts nothing.
    [[nodiscard]] StorageResult<RecoveryReport> start_over();
    [[nodiscard]] StorageResult<void> load_epochs(const Files& files);
    [[nodiscard]] StorageResult<void> load_producers(const Files& files);
    [[nodiscard]] StorageResult<void> load_aborted(const Files& files);
    /// What the walk found again of aborted transactions becomes durable, where a damaged file lacked it.
    [[nodiscard]] StorageResult<void> write_found_aborted();
    [[nodiscard]] StorageResult<void> open_segments(const Files& files);
    /// Accepts a segment below everything that must be looked at. False when its indexes are not good.
    [[nodiscard]] StorageResult<bool> accept_unread(Segment& segment, Offset next_base);
    /// Whether compaction explains that the segment before `next_base` ends below it. What this broker compacts keeps
    /// its last batch, but Kafka's segments may have lost theirs.
    [[nodiscard]] bool may_end_early(Offset next_base) const;
    /// True when the offsets of the batch may be the next ones of the segment.
    [[nodiscard]] bool can_follow(const Segment& segment, const BatchHeader& header, bool is_first) const;
    /// Drops index entries that cannot be trusted; `indexed_until_` says from where to walk.
    [[nodiscard]] StorageResult<void> prune_indexes(Segment& segment, Offset next_base);
    /// Walks to the end of the segment, or to the first bad batch and cuts the log there. False when it was cut.
    [[nodiscard]] StorageResult<bool> walk(Segment& segment);
    [[nodiscard]] StorageResult<void> take(Segment& segment, const BatchHeader& header, std::uint64_t position,
                                           std::optional<Bytes> bytes);
    [[nodiscard]] StorageResult<void> cut(Segment& segment, std::uint64_t position, std::string reason, bool is_truncated_tail);
    [[nodiscard]] StorageResult<void> set_later_segments_aside(const std::vector<Offset>& bases, std::size_t first);
    [[nodiscard]] StorageResult<void> finish(const Files& files);
    [[nodiscard]] std::string path(Offset base, std::string_view extension) const;

    LogCore& log_;
    PartitionLog::OpenHints hints_;
    FileSystem& file_system_;
    std::shared_ptr<const LogConfig> config_;
    std::unique_ptr<PartitionLogState> state_;
    RecoveryReport report_;

    /// Batches below this offset need no CRC check.
    Offset trusted_end_{std::numeric_limits<std::int64_t>::max()};
    /// Batches from this offset on are fed into the producer state.
    Offset replay_from_{0};
    /// By base offset of their segments.
    std::map<Offset, std::shared_ptr<AbortedIndex>> aborted_;
    /// From here on an index of aborted transactions may lack some that end below `trusted_end_`: their markers are looked for.
    Offset aborted_from_{std::numeric_limits<std::int64_t>::max()};
    /// Index entries of the current segment up to this position are kept; batches behind it make new ones.
    std::uint64_t indexed_until_ = 0;
    bool has_index_entry_ = false;
    /// The next offset expected.
    Offset end_{0};
    /// Offsets have gaps, so the log was compacted.
    bool seen_holes_ = false;
};

}  // namespace partita
