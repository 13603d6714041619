#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/types.h"
#include "storage/log_config.h"
#include "storage/log_core.h"
#include "storage/storage_error.h"

namespace partita {

struct CleaningOptions;
struct CleaningReport;
struct DirtyRange;

struct AppendContext {
    /// Written into the batch; never lower than that of an earlier append.
    LeaderEpoch leader_epoch{0};
    /// Arrival time: rolls by segment.ms when a batch carries no timestamp, and ages producers.
    TimestampMs now{0};
};

enum class AppendFailure {
    /// Kafka's OUT_OF_ORDER_SEQUENCE_NUMBER(45).
    out_of_order_sequence,
    /// Kafka's INVALID_PRODUCER_EPOCH(47).
    invalid_producer_epoch,
    /// Kafka's INVALID_TXN_STATE(48): plain batch of a producer that has an open transaction here.
    invalid_transaction_state,
    /// Kafka's CORRUPT_MESSAGE(2): not one well-formed v2 batch.
    malformed_batch,
    /// Kafka's KAFKA_STORAGE_ERROR(56); a later attempt may succeed.
    storage_error,
    /// The log was deleted: NOT_LEADER_OR_FOLLOWER or UNKNOWN_TOPIC_OR_PARTITION to the client.
    closed,
};

struct AppendError {
    AppendFailure failure = AppendFailure::storage_error;
    /// A sentence for the log and for the error_message of newer Produce answers.
    std::string message;
};

/// Outcome of one flush, shared by everything it wrote. Immutable once the flush returned.
struct FlushGroup {
    bool resolved = false;
    /// Batches below it are in the log; those at or above it failed with `error`.
    Offset published_end{0};
    AppendError error;
};

/// A batch that has its offsets. It is not in the log, and must not be acknowledged, before
/// `flush_staged` returned and `result()` is a value.
struct StagedAppend {
    Offset base_offset{0};
    Offset last_offset{0};
    /// An idempotent producer sent this batch before: nothing is written, `base_offset` and
    /// `log_append_time` are those of the first time.
    bool duplicate = false;
    /// Timestamp of the original for duplicates, kNoTimestamp otherwise.
    TimestampMs duplicate_timestamp = kNoTimestamp;
    /// Empty for a duplicate whose original is already in the log.
    std::shared_ptr<const FlushGroup> group;

    /// To be called after `flush_staged` returned on this thread.
    [[nodiscard]] std::expected<void, AppendError> result() const;
};

enum class ReadError { out_of_range, storage_error, closed };

struct ReadFailure {
    ReadError error = ReadError::out_of_range;
    std::string message;
};

struct ReadLimits {
    /// Nothing at or above it is returned: high watermark, last stable offset, or log end.
    Offset upper_bound;
    std::uint32_t max_bytes = 1048576;
    /// Return the first batch whole even if it is larger than `max_bytes`.
    bool minimum_one_batch = false;
};

/// A run of bytes of one segment, ready for sendfile. Starts at a batch that contains the wanted
/// offset (its base offset may be lower: never trimmed). The last batch may be cut off by
/// `max_bytes`, as Kafka does; clients drop a partial batch. Never ends before the first batch does.
struct FileSlice {
    /// Null when the slice is empty.
    std::shared_ptr<File> file;
    std::uint64_t position = 0;
    std::uint32_t size = 0;
    /// Base offset of the first batch; the wanted offset when empty.
    Offset base_offset{0};
    /// Size of the first batch: what `minimum_one_batch` guaranteed.
    std::uint32_t first_batch_size = 0;
    /// The slice lies in the newest segment and was written by this process a short while ago:
    /// assume that the page cache has it.
    bool is_recent = false;
    /// Where the segment's published bytes end or the bound lies; `size` could grow to it.
    std::uint32_t available_bytes = 0;
};

struct TimestampedOffset {
    TimestampMs timestamp;
    Offset offset;
    LeaderEpoch leader_epoch;
};

struct EpochEnd {
    LeaderEpoch leader_epoch;
    Offset end_offset;
};

struct EpochStart {
    LeaderEpoch leader_epoch;
    Offset start_offset;
    friend bool operator==(const EpochStart&, const EpochStart&) = default;
};

struct SegmentSummary {
    Offset base_offset;
    /// Where the next segment begins (log end for the newest).
    Offset end_offset;
    std::uint64_t size_bytes = 0;
    /// kNoTimestamp when no record carries one.
    TimestampMs max_timestamp = kNoTimestamp;
    /// Time of the newest write, for retention of segments without timestamps.
    TimestampMs last_modified = kNoTimestamp;
};

struct ProducerSummary {
    ProducerId producer_id;
    ProducerEpoch producer_epoch;
    Sequence last_sequence;
    TimestampMs last_timestamp;
    std::int32_t coordinator_epoch = -1;
    Offset current_transaction_start = kNoOffset;
};

struct AbortedTransactionSummary {
    ProducerId producer_id;
    Offset first_offset;
};

/// What stood where a log was cut.
enum class CutKind : std::uint8_t {
    nothing,
    /// Space that was made ready behind the records and never written to, as a rule.
    zeros,
    /// A batch that was not written to its end, and nothing behind it.
    torn_batch,
    /// Anything else: it was there once, and is damaged or has lost what belongs in front of it.
    damage,
};

/// What recovery did to one partition, for one log line and for tests.
struct RecoveryReport {
    std::string directory;
    bool was_clean = false;
    std::uint64_t segments = 0;
    /// Bytes whose CRC was checked because nothing vouched for them.
    std::uint64_t scanned_bytes = 0;
    /// Bytes removed from the log, and where the first of them stood.
    std::uint64_t cut_bytes = 0;
    std::string cut_segment;
    std::uint64_t cut_position = 0;
    CutKind cut_kind = CutKind::nothing;
    /// The same for people: "torn batch", "wrong CRC", ... Empty when nothing was cut.
    std::string cut_reason;
    /// Files that now hold what was cut and could be good data; empty for a plain torn tail.
    std::vector<std::string> set_aside;
    std::uint64_t rebuilt_indexes = 0;
    /// The recovery point on file vouches for what is not there (any more), and must not be believed by the next start.
    bool recovery_point_is_void = false;
    /// What the checkpoint files say under its name is of an earlier topic.
    bool is_newer_than_checkpoint = false;
    /// Compacted segments whose replacement of others was interrupted and is finished now.
    std::uint64_t finished_swaps = 0;
    std::uint64_t producers = 0;
    Offset log_start_offset{0};
    Offset log_end_offset{0};
};

/// The log of one partition: segments of record batches in Kafka's on-disk format.
///
/// Ordering promises
/// - `stage` assigns dense offsets in the order of its calls. `flush_staged` writes what is staged,
///   in that order, and then publishes the new end: a reader sees a batch only once it is wholly in
///   the kernel. So an append whose result is good survives a crash of the process.
/// - `sync` returning success means that everything published before the call survives a crash of
///   the machine (on a disk that keeps its word). The recovery point advances to it.
/// - A failed write publishes nothing of the batch it failed on nor of those staged after it, gives
///   their offsets back, restores the producer state and cuts the partial bytes off. The log stays
///   usable: the next append tries again. A failed sync does not: see StorageError::Kind::sync_failed.
/// - An offset that was acknowledged is never reused, also after a restart.
///
/// Cost: an empty partition has no file and no heap state (about 200 bytes); directory and files
/// appear with the first append.
///
/// Thread-safe; see LogCore for what is locked how long. Calls that touch the disk say so.
class PartitionLog {
  public:
    /// No input or output happens here.
    PartitionLog(const LogEnvironment& environment, std::shared_ptr<const LogTopic> topic, PartitionIndex partition,
                 std::shared_ptr<const LogConfig> config);
    ~PartitionLog();
    PartitionLog(const PartitionLog&) = delete;
    PartitionLog& operator=(const PartitionLog&) = delete;

    // Appending ----------------------------------------------------------------------------------

    /// Checks the producer's sequence, gives offsets to `batch` (exactly one v2 batch, validated by
    /// the caller), writes base offset and leader epoch into it, and queues it. `batch` must stay
    /// valid and unchanged until the caller's own `flush_staged` returned; every successful `stage`
    /// must be followed by one. No input or output.
    [[nodiscard]] std::expected<StagedAppend, AppendError> stage(MutableBytes batch, const AppendContext& context);

    /// Writes everything staged by anybody, with one gathered write per segment touched, and
    /// publishes it. When it returns, every StagedAppend that this thread got before is resolved,
    /// whoever wrote it. Writes to the disk (page cache).
    void flush_staged();

    /// `stage`, `flush_staged` and `result` in one.
    [[nodiscard]] std::expected<StagedAppend, AppendError> append(MutableBytes batch, const AppendContext& context);

    // Reading ------------------------------------------------------------------------------------

    /// Finds the bytes to send for a fetch at `from`. `from` equal to the log end gives an empty
    /// slice; below the log start or above the log end is out of range. Reads at most one index
    /// interval of batch headers; none at all near the end of the log.
    [[nodiscard]] std::expected<FileSlice, ReadFailure> read(Offset from, const ReadLimits& limits) const;

    [[nodiscard]] Offset log_start_offset() const { return core_.log_start_offset(); }
    [[nodiscard]] Offset log_end_offset() const { return core_.log_end_offset(); }
    /// On one node everything published is replicated everywhere: the log end.
    [[nodiscard]] Offset high_watermark() const { return log_end_offset(); }
    /// First offset of the oldest open transaction, or the high watermark.
    [[nodiscard]] Offset last_stable_offset() const {
        return core_.last_stable_offset();
    }
    /// First offset of the newest segment; a fetch parked below it should be answered (Kafka's case
    /// "fetch offset is on an older segment").
    [[nodiscard]] Offset active_segment_base() const;

    /// First record with a timestamp at or after `target`, below `upper_bound`. Empty when there is
    /// none. Reads (and decompresses) one batch.
    [[nodiscard]] StorageResult<std::optional<TimestampedOffset>> offset_for_timestamp(TimestampMs target,
                                                                                       Offset upper_bound) const;
    /// The record with the greatest timestamp (ListOffsets -3). Empty for an empty log.
    [[nodiscard]] StorageResult<std::optional<TimestampedOffset>> offset_of_max_timestamp() const;

    /// Kafka's OffsetForLeaderEpoch: the largest epoch at or below `epoch` and where it ends;
    /// {-1, -1} when `epoch` is above the latest or nothing is known.
    [[nodiscard]] EpochEnd offset_for_leader_epoch(LeaderEpoch epoch) const;
    [[nodiscard]] std::vector<EpochStart> leader_epochs() const;
    /// kNoLeaderEpoch when nothing was ever appended.
    [[nodiscard]] LeaderEpoch latest_leader_epoch() const;
    /// Epoch in which the record at `offset` was appended.
    [[nodiscard]] LeaderEpoch leader_epoch_at(Offset offset) const;

    /// Aborted transactions that overlap `[from, to)`, for fetches with read_committed.
    [[nodiscard]] std::vector<AbortedTransactionSummary> aborted_transactions(Offset from, Offset to) const;

    [[nodiscard]] std::uint64_t size_bytes() const;
    [[nodiscard]] std::vector<SegmentSummary> segments() const;
    [[nodiscard]] std::vector<ProducerSummary> active_producers() const;

    // Keeping it small ---------------------------------------------------------------------------

    /// Moves the log start to `offset` (DeleteRecords) and removes segments that lie wholly below
    /// it. False when `offset` is above the high watermark. At or below the log start: nothing
    /// happens. Durable once the directory's log-start checkpoint is written.
    [[nodiscard]] StorageResult<bool> delete_records_before(Offset offset);

    /// Removes what the config's retention no longer keeps; returns what was removed. Files are
    /// unlinked at once: readers in progress hold the descriptor, so Kafka's file.delete.delay.ms
    /// has nothing to protect here.
    ///
    /// Nothing at or above `keep_from` goes, whatever the config says: for logs whose checkpoint has not
    /// yet taken over what is there.
    [[nodiscard]] StorageResult<std::vector<SegmentSummary>> apply_retention(
        TimestampMs now, Offset keep_from = {std::numeric_limits<std::int64_t>::max()});

    /// What a cleaning would take in now, see cleaning_rules.h. Nothing at or above `keep_from` counts. Reads one
    /// batch header of each dirty segment, where max.compaction.lag.ms is set.
    [[nodiscard]] StorageResult<DirtyRange> dirty_range(
        TimestampMs now, Offset keep_from = {std::numeric_limits<std::int64_t>::max()}) const;

    /// Compacts the log up to the end of its dirty range: see log_cleaner.h. Slow; appends and reads go on
    /// meanwhile. One at a time. Once in a log's life its recovery point must have been written down before, so that
    /// recovery knows the log from one that somebody put here.
    [[nodiscard]] StorageResult<CleaningReport> clean(const CleaningOptions& options);

    /// Everything below it was compacted once; kNoOffset when nothing was.
    [[nodiscard]] Offset first_dirty_offset() const;

    /// Forgets producers that were idle for longer than producer.id.expiration.ms. Cheap.
    void expire_producers(TimestampMs now);

    void set_config(std::shared_ptr<const LogConfig> config);

    // Durability ---------------------------------------------------------------------------------

    /// Everything below it survives a crash of the machine.
    [[nodiscard]] Offset recovery_point() const { return core_.recovery_point(); }
    [[nodiscard]] bool has_unsynced_data() const { return recovery_point() < log_end_offset(); }
    /// Makes everything published durable. Blocks on the device: for flusher threads. Appends and
    /// reads go on meanwhile.
    [[nodiscard]] StorageResult<Offset> sync();
    /// `sync`, which also writes the producer snapshot, leader epochs and index entries, and makes those durable. Where
    /// only one of them fails the log is synced nevertheless.
    [[nodiscard]] StorageResult<Offset> checkpoint();
    /// Where the last checkpoint ended. LogDirectory::write_checkpoints writes it down as the log's recovery point:
    /// below it a start after a crash believes the files, as after a clean stop, and reads no batch.
    [[nodiscard]] Offset checkpointed_end() const;
    /// Appended to since the last `checkpoint`, or recovered after a crash. Cheap.
    [[nodiscard]] bool needs_checkpoint() const { return checkpointed_end() != log_end_offset(); }
    /// About so much a start after a crash would have to read. Cheap.
    [[nodiscard]] std::uint64_t bytes_since_checkpoint() const;
    /// The checkpoint file has this recovery point from now on. For the directory.
    void note_recovery_point_on_file(Offset offset);

    // Whole life ---------------------------------------------------------------------------------

    [[nodiscard]] const LogTopic& topic() const { return *core_.topic; }
    [[nodiscard]] PartitionIndex partition() const { return core_.partition; }
    /// "<topic>-<partition>".
    [[nodiscard]] std::string directory_name() const;
    [[nodiscard]] std::string directory_path() const;
    /// False until the first append: then there is no directory.
    [[nodiscard]] bool has_files() const;
    /// There may be a directory, though no file yet: somebody tried to append, or the start found it.
    [[nodiscard]] bool may_have_directory() const { return core_.state.load() != nullptr; }
    /// The topic that a log found at the start belongs to. Before anybody else uses the log.
    void take_topic(std::shared_ptr<const LogTopic> topic) { core_.topic = std::move(topic); }
    /// For LogSync.
    [[nodiscard]] LogCore& core() { return core_; }

    /// Opens an existing directory: trusts what the clean point vouches for, walks the rest, cuts a
    /// damaged tail, rebuilds what can be rebuilt. To be called once, before any other use.
    struct OpenHints {
        /// The last stop was clean: files are trusted without a look at their content.
        bool clean = false;
        /// Another broker wrote the directory.
        bool is_foreign = false;
        /// From the checkpoint files; kNoOffset when they do not name this partition.
        Offset recovery_point = kNoOffset;
        Offset log_start_offset = kNoOffset;
        Offset first_dirty_offset = kNoOffset;
        TimestampMs now{0};
    };
    [[nodiscard]] StorageResult<RecoveryReport> open_existing(const OpenHints& hints);

    /// Syncs, writes indexes, snapshot and epochs, trims reservations and closes the files. Later
    /// appends fail with `closed`; reads too.
    [[nodiscard]] StorageResult<void> close();

    /// Every later call fails with `closed`; files are let go (not removed: the directory does that).
    void mark_deleted();

  private:
    LogCore core_;
};

}  // namespace partita
