#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/partition_log.h"
#include "storage/partition_log_state.h"

namespace partita {

/// Opens the directory of one partition.
///
/// What is trusted: after a clean stop everything; else what lies below the recovery point on file, where a
/// checkpoint ended. Trusted bytes are not read, except the headers behind the newest index entry and behind the
/// newest producer snapshot, which that checkpoint wrote: without any nobody who has a producer id wrote there. Everything
/// after the recovery point is read and its CRC checked. When less is found than was vouched for, RecoveryReport::
/// recovery_point_is_void says so, and the caller must not leave the recovery point on file.
///
/// At the first bad batch of that part the log is cut, as Kafka does: offsets are dense, so nothing
/// behind a hole can be served under its old offset without one. But good data is never deleted for its
/// neighbour's sake:
///   before   |good|good|BAD|good|   |next segment|
///   after    |good|good|            (log end)
///   aside    00..42.log.<position>.corrupt holds |BAD|good|, 00..99.log.corrupt is the next segment.
/// Only a torn tail (the bytes end inside the last batch, or are zeros) leaves nothing aside: nobody was
/// told of it. Where the bytes cannot be set aside (disk full) the partition is not opened and not cut.
///
/// Indexes are caches: entries that are implausible, or newer than what is trusted, are dropped and made
/// anew. Files of a Kafka that was killed (preallocated, zero-filled indexes) are accepted.
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
    /// Less is there than the recovery point vouched for: believes nothing of it.
    [[nodiscard]] StorageResult<RecoveryReport> start_over();
    [[nodiscard]] StorageResult<void> load_epochs(const Files& files);
    [[nodiscard]] StorageResult<void> load_producers(const Files& files);
    [[nodiscard]] StorageResult<void> load_aborted(const Files& files);
    [[nodiscard]] StorageResult<void> open_segments(const Files& files);
    /// Takes a segment below everything that must be looked at. False: its indexes are not good.
    [[nodiscard]] StorageResult<bool> accept_unread(Segment& segment, Offset next_base);
    /// Whether compaction explains that the segment before `next_base` ends below it. What this broker compacts keeps
    /// its last batch, but Kafka's segments may have lost theirs.
    [[nodiscard]] bool may_end_early(Offset next_base) const;
    /// Whether the offsets of a batch can be the next ones of the segment.
    [[nodiscard]] bool can_follow(const Segment& segment, const BatchHeader& header, bool is_first) const;
    /// Drops index entries that are not to be believed; returns the position to walk from.
    [[nodiscard]] StorageResult<std::uint64_t> prune_indexes(Segment& segment, Offset next_base);
    /// Walks to the end of the segment, or to the first bad batch. False: it was cut there.
    [[nodiscard]] StorageResult<bool> walk(Segment& segment);
    [[nodiscard]] StorageResult<void> take(Segment& segment, const BatchHeader& header, std::uint64_t position,
                                           std::optional<Bytes> bytes);
    [[nodiscard]] StorageResult<void> cut(Segment& segment, std::uint64_t position, std::string reason,
                                          bool is_truncated_tail);
    [[nodiscard]] StorageResult<void> set_later_segments_aside(const std::vector<Offset>& bases, std::size_t first);
    [[nodiscard]] StorageResult<void> finish(const Files& files);
    [[nodiscard]] std::string path(Offset base, std::string_view extension) const;

    LogCore& log_;
    PartitionLog::OpenHints hints_;
    FileSystem& file_system_;
    std::shared_ptr<const LogConfig> config_;
    std::unique_ptr<PartitionLogState> state_;
    RecoveryReport report_;

    /// Below it nothing needs a CRC.
    Offset trusted_end_{std::numeric_limits<std::int64_t>::max()};
    /// From it on batches are fed into the producer state.
    Offset replay_from_{0};
    /// Index entries of the current segment up to this position are kept; batches behind it make new ones.
    std::uint64_t indexed_until_ = 0;
    bool has_index_entry_ = false;
    /// Next offset expected.
    Offset end_{0};
    /// Offsets have gaps: compaction was here.
    bool seen_holes_ = false;
};

}  // namespace partita
