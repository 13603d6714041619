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
/// After a clean stop it trusts everything. Otherwise it trusts bytes below the recovery point on file, where a checkpoint ended.
/// It does not read trusted bytes, except headers behind the newest index entry and behind the newest producer snapshot, which
/// that checkpoint wrote. (A log without snapshot has no batch of a producer with an id there.) It reads everything behind the
/// recovery point and checks the CRC. If it finds less than that point promises, it sets RecoveryReport::recovery_point_is_void,
/// and the caller must not leave the recovery point on file.
///
/// At the first bad batch behind the recovery point the log is cut, as Kafka does: offsets are dense, so no batch
/// behind a hole could be served under its old offset. But good data is never deleted because of its neighbour:
///   before   |good|good|BAD|good|   |next segment|
///   after    |good|good|            (log end)
///   aside    00..42.log.<position>.corrupt holds |BAD|good|, 00..99.log.corrupt is the next segment.
/// Only a torn tail (the bytes end inside the last batch, or are zeros) leaves nothing aside: no whole batch is in it.
/// When the bytes cannot be set aside (disk full), the partition is neither opened nor cut.
///
/// Unknown bytes are no damage. A later message format than 2 (`refuse_later_format`) fails with `newer_format`. So does a log
/// without anything understood that may be another broker's: one in a directory that was taken over, without a checkpoint of
/// ours. Every `.log` file is then as it was. A log without a checkpoint is checked for later formats before any file is touched.
///
/// Entries of the message formats 0 and 1 are accepted as Kafka 4 accepts them: by their headers in trusted bytes, even if a
/// record is damaged. An entry whose header leads to no next one, or that is a batch of format 2 whose magic is damaged, is a bad
/// batch.
///
/// Indexes are caches: recovery drops entries that are implausible, or newer than the trusted data, and makes them anew. It
/// accepts files of a Kafka that was killed (preallocated, zero-filled indexes). It rebuilds a damaged index of aborted
/// transactions from the markers, also below the recovery point. It does not notice a missing one there, as in Kafka.
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
    /// Starts again and trusts nothing, because the log has less than the recovery point promises.
    [[nodiscard]] StorageResult<RecoveryReport> start_over();
    [[nodiscard]] StorageResult<void> load_epochs(const Files& files);
    [[nodiscard]] StorageResult<void> load_producers(const Files& files);
    [[nodiscard]] StorageResult<void> load_aborted(const Files& files);
    /// Makes the aborted transactions durable that the walk found and a damaged file lacked.
    [[nodiscard]] StorageResult<void> write_found_aborted();
    [[nodiscard]] StorageResult<void> open_segments(const Files& files);
    /// Accepts a segment that lies below everything recovery must read. False if its indexes are not good.
    [[nodiscard]] StorageResult<bool> accept_unread(Segment& segment, Offset next_base);
    /// Whether compaction explains that the segment before `next_base` ends below it. This broker's compaction keeps a segment's
    /// last batch, but Kafka's segments may have lost theirs.
    [[nodiscard]] bool may_end_early(Offset next_base) const;
    /// True if only entries of format 0 lie between the beginning and the entry that has `newest` in the offset index, as far as
    /// those two tell. Such a segment has an empty time index.
    [[nodiscard]] StorageResult<bool> is_without_times(Segment& segment, OffsetPosition newest);
    /// True when the offsets of the batch may come next in the segment, at or above `lowest`.
    [[nodiscard]] static bool can_follow(const Segment& segment, const BatchHeader& header, Offset lowest);
    /// Drops index entries that cannot be trusted; `indexed_until_` tells where the walk must begin.
    [[nodiscard]] StorageResult<void> prune_indexes(Segment& segment, Offset next_base);
    /// Walks to the end of the segment, or to the first bad batch, where it cuts the log. False if it cut the log.
    [[nodiscard]] StorageResult<bool> walk(Segment& segment);
    /// Takes the batches from `position` on whose headers are enough. Returns the place of the first other one.
    [[nodiscard]] StorageResult<std::uint64_t> walk_trusted(Segment& segment, File& file, std::uint64_t position);
    [[nodiscard]] StorageResult<void> take(Segment& segment, const BatchHeader& header, std::uint64_t position,
                                           std::optional<Bytes> bytes);
    /// Takes the time of the segment's file for that of its last append, because no record of the segment has one.
    [[nodiscard]] StorageResult<void> take_file_time(Segment& segment);
    /// Frees the space that a killed process had reserved behind the end. `is_sealed`: appends no longer change the file, so its
    /// time must stay.
    [[nodiscard]] StorageResult<void> free_reserved(Segment& segment, bool is_sealed);
    /// Gives the segment a file of its own with the first `size` bytes, if a snapshot shares it (data_snapshots.h).
    [[nodiscard]] StorageResult<void> unshare(Segment& segment, std::uint64_t size);
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
    /// Recovery feeds batches from this offset on into the producer state.
    Offset replay_from_{0};
    /// Keyed by the base offset of the segment.
    std::map<Offset, std::shared_ptr<AbortedIndex>> aborted_;
    /// From this offset on, an index of aborted transactions may lack some that end below `trusted_end_`. Recovery looks for
    /// their markers.
    Offset aborted_from_{std::numeric_limits<std::int64_t>::max()};
    /// Index entries of the current segment stay up to this position; batches behind it make new ones.
    std::uint64_t indexed_until_ = 0;
    bool has_index_entry_ = false;
    /// The next offset expected.
    Offset end_{0};
    /// Offsets have gaps, so the log was compacted.
    bool seen_holes_ = false;
};

}  // namespace partita
