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
#include "storage/file_slice.h"
#include "storage/log_config.h"
#include "storage/log_core.h"
#include "storage/storage_error.h"
#include "storage/write_breadth.h"

namespace partita {

struct BatchHeader;
struct CleaningOptions;
struct CleaningReport;
struct DirtyRange;

/// A token for asking a coordinator whether a transaction includes this partition. The log gives it out before the question, and
/// takes the transaction's first batch only with the token. The end of a transaction voids the token, so an answer that a marker
/// overtook opens no transaction (KIP-890).
struct TransactionVerification : StrongInt<struct TransactionVerificationTag, std::uint64_t> {
    friend constexpr auto operator<=>(TransactionVerification, TransactionVerification) = default;
};
/// No coordinator was asked. Good for further batches of a transaction that is open already.
inline constexpr TransactionVerification kNotVerified{0};

/// The author of a batch.
enum class AppendOrigin : std::uint8_t {
    client,
    /// The group's coordinator, which writes the offsets of a transaction: they have a producer, but no sequence.
    coordinator,
};

struct AppendContext {
    /// Written into the batch, or a later one if an append beside this one has begun that already.
    LeaderEpoch leader_epoch{0};
    /// Time of arrival. It decides about segment.ms when a batch carries no timestamp, and it ages producers.
    TimestampMs now{0};
    AppendOrigin origin = AppendOrigin::client;
    /// Unset: the log takes batches of transactions without a question (transaction.partition.verification.enable). Set: the log
    /// refuses a batch that would begin a transaction with invalid_transaction_state, unless this is the newest value from
    /// `begin_verification`.
    std::optional<TransactionVerification> verification;
    /// For a marker: the producer's epoch rises with each end of a transaction. A marker with the epoch of the open transaction
    /// therefore comes too late (KIP-1228).
    bool marker_bumps_epoch = false;
};

enum class AppendFailure {
    /// Kafka's OUT_OF_ORDER_SEQUENCE_NUMBER(45).
    out_of_order_sequence,
    /// Kafka's INVALID_PRODUCER_EPOCH(47).
    invalid_producer_epoch,
    /// Kafka's INVALID_TXN_STATE(48): a plain batch of a producer with an open transaction here, or a batch of an unverified
    /// transaction.
    invalid_transaction_state,
    /// Kafka's TRANSACTION_COORDINATOR_FENCED(52): a marker from a former coordinator.
    coordinator_fenced,
    /// Kafka's CORRUPT_MESSAGE(2): not one well-formed v2 batch.
    malformed_batch,
    /// Kafka's KAFKA_STORAGE_ERROR(56); a later attempt may succeed.
    storage_error,
    /// The log was deleted. The client gets NOT_LEADER_OR_FOLLOWER or UNKNOWN_TOPIC_OR_PARTITION.
    closed,
};

struct [[nodiscard]] AppendError {
    AppendFailure failure = AppendFailure::storage_error;
    /// A sentence for the log and for the error_message of newer Produce answers.
    std::string message;
};

/// Outcome of one flush, shared by all appends that it wrote. Immutable once the flush returned.
struct FlushGroup {
    bool resolved = false;
    /// Batches below this offset are in the log; those at or above it failed with `error`.
    Offset published_end{0};
    AppendError error;
};

/// A batch that has offsets. It is in the log, and may be acknowledged, only after `flush_staged` returned and `result()` is a
/// value.
struct StagedAppend {
    Offset base_offset{0};
    Offset last_offset{0};
    /// An idempotent producer sent this batch before: the log writes nothing. Offsets and `duplicate_timestamp` are those of the
    /// first time.
    bool duplicate = false;
    /// Timestamp of the original for duplicates, kNoTimestamp otherwise.
    TimestampMs duplicate_timestamp = kNoTimestamp;
    /// Null for a duplicate whose original is already in the log.
    std::shared_ptr<const FlushGroup> group;

    /// Call it after `flush_staged` returned on this thread.
    [[nodiscard]] std::expected<void, AppendError> result() const;
};

enum class ReadError { out_of_range, storage_error, closed };

struct ReadFailure {
    ReadError error = ReadError::out_of_range;
    std::string message;
};

struct ReadLimits {
    /// `read` returns nothing at or above this offset. Callers pass high watermark, last stable offset, or log end.
    Offset upper_bound;
    std::uint32_t max_bytes = 1048576;
    /// Return the first batch whole even if it is larger than `max_bytes`.
    bool minimum_one_batch = false;
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

/// The kind of bytes that recovery found where it cut a log.
enum class CutKind : std::uint8_t {
    nothing,
    /// Usually space that was reserved behind the records and never written.
    zeros,
    /// The beginning of a batch, and nothing behind it.
    torn_batch,
    /// Anything else: once good data that is damaged, or that lost the batches before it.
    damage,
};

/// The result of recovering one partition, for one log line and for tests.
struct RecoveryReport {
    std::string directory;
    bool was_clean = false;
    std::uint64_t segments = 0;
    /// Bytes whose CRC was checked, because no checkpoint vouched for them.
    std::uint64_t scanned_bytes = 0;
    /// Bytes removed from the log, and the position of the first.
    std::uint64_t cut_bytes = 0;
    std::string cut_segment;
    std::uint64_t cut_position = 0;
    CutKind cut_kind = CutKind::nothing;
    /// The kind of the cut in words: "torn batch", "wrong CRC", ... Empty when nothing was cut.
    std::string cut_reason;
    /// Files with the cut bytes that could be good data; empty for a plain torn tail.
    std::vector<std::string> set_aside;
    std::uint64_t rebuilt_indexes = 0;
    /// The recovery point on file promises data that is missing; the next start must not believe it.
    bool recovery_point_is_void = false;
    /// The entries of the checkpoint files under the partition's name belong to an earlier topic.
    bool is_newer_than_checkpoint = false;
    /// Compactions that a crash interrupted while they replaced old segments, and that recovery finished.
    std::uint64_t finished_swaps = 0;
    std::uint64_t producers = 0;
    Offset log_start_offset{0};
    Offset log_end_offset{0};
};

/// The log of one partition: segments of record batches in Kafka's on-disk format.
///
/// Ordering promises
///
/// - `stage` assigns dense offsets in the order of its calls. `flush_staged` writes the staged batches in that order, and then
///   publishes the new end. A reader sees a batch only once it is wholly in the kernel. So an append whose result is good
///   survives a crash of the process.
/// - If `sync` succeeds, everything published before the call survives a crash of the machine (on an honest disk). The recovery
///   point advances to it.
/// - A failed write publishes nothing of its batch nor of the batches staged after it. It gives their offsets back, restores the
///   producer state and cuts the partial bytes off. The log stays usable: the next append tries again. After a failed sync it
///   does not: see StorageError::Kind::sync_failed.
/// - An offset that was acknowledged is never reused, not even after a restart, unless a crash of the machine took its unsynced
///   record.
///
/// An empty partition has no file and no heap state, and takes about 200 bytes. Directory and files appear with the first append.
///
/// Thread-safe; LogCore tells how long each lock is held. Calls that touch the disk say so.
class PartitionLog {
  public:
    /// Touches no disk.
    PartitionLog(const LogEnvironment& environment, std::shared_ptr<const LogTopic> topic, PartitionIndex partition,
                 std::shared_ptr<const LogConfig> config);
    ~PartitionLog();
    PartitionLog(const PartitionLog&) = delete;
    PartitionLog& operator=(const PartitionLog&) = delete;

    // Appending ----------------------------------------------------------------------------------

    /// Checks the producer's sequence, gives offsets to `batch` (exactly one v2 batch, validated by the caller), writes
    /// base offset and leader epoch into it, and queues it. The caller keeps `batch` valid and unchanged until its own
    /// `flush_staged` returned, and must call that after every successful `stage`. Touches no disk.
    [[nodiscard]] std::expected<StagedAppend, AppendError> stage(MutableBytes batch, const AppendContext& context);

    /// Begins the verification of a batch's transaction, for `AppendContext::verification`. Call it before asking the
    /// transaction's coordinator for this batch. Empty if there is no need to ask, because the producer has a transaction open
    /// here. A producer that is fenced here gets the same error as from `stage`. `bumps_epoch`: the client works by KIP-890, so a
    /// producer unknown here must begin with its first sequence.
    [[nodiscard]] std::expected<std::optional<TransactionVerification>, AppendError> begin_verification(const BatchHeader& header,
                                                                                                        bool bumps_epoch,
                                                                                                        TimestampMs now);

    /// Whether `stage` would take a batch of this producer now. Does not check for malformed batches, positions or the disk.
    [[nodiscard]] std::expected<void, AppendError> would_take(const BatchHeader& header, const AppendContext& context);

    /// Writes all batches staged by any thread, with one gathered write per segment touched, and publishes them. When it returns,
    /// every StagedAppend that this thread got before is resolved, no matter which thread wrote it. `breadth` describes the
    /// flushes that the caller makes in a row. Writes to the disk (page cache).
    void flush_staged(WriteBreadth breadth = WriteBreadth::few);

    /// `stage`, `flush_staged` and `result` in one.
    [[nodiscard]] std::expected<StagedAppend, AppendError> append(MutableBytes batch, const AppendContext& context);

    // Reading ------------------------------------------------------------------------------------

    /// Finds the bytes to send for a fetch at `from`. If `from` equals the log end, the slice is empty; below the log start or
    /// above the log end it is out of range. Reads the batch headers of at most one index interval, and none near the end of the
    /// log.
    [[nodiscard]] std::expected<FileSlice, ReadFailure> read(Offset from, const ReadLimits& limits) const;

    [[nodiscard]] Offset log_start_offset() const { return core_.log_start_offset(); }
    [[nodiscard]] Offset log_end_offset() const { return core_.log_end_offset(); }
    /// There are no other replicas to wait for, so this is the log end.
    [[nodiscard]] Offset high_watermark() const { return log_end_offset(); }
    /// First offset of the oldest open transaction (the log start if it began below that), or the high watermark.
    [[nodiscard]] Offset last_stable_offset() const { return core_.last_stable_offset(); }
    /// First offset of the newest segment. The caller should answer a fetch that waits below it (Kafka's case "fetch offset is on
    /// an older segment").
    [[nodiscard]] Offset active_segment_base() const;

    /// The first record with a timestamp at or after `target`, below `upper_bound`. Empty if no record matches. Reads
    /// (and decompresses) one batch.
    [[nodiscard]] StorageResult<std::optional<TimestampedOffset>> offset_for_timestamp(TimestampMs target,
                                                                                       Offset upper_bound) const;
    /// The record with the greatest timestamp (ListOffsets -3). Empty for an empty log.
    [[nodiscard]] StorageResult<std::optional<TimestampedOffset>> offset_of_max_timestamp() const;

    /// Kafka's OffsetForLeaderEpoch: the largest epoch at or below `epoch` and the offset where it ends. If `epoch` is below the
    /// first known epoch: `epoch` itself, ending where the first known epoch begins. {-1, -1} if `epoch` is above the latest or
    /// no epoch is known.
    [[nodiscard]] EpochEnd offset_for_leader_epoch(LeaderEpoch epoch) const;
    [[nodiscard]] std::vector<EpochStart> leader_epochs() const;
    /// kNoLeaderEpoch when nothing was ever appended.
    [[nodiscard]] LeaderEpoch latest_leader_epoch() const { return core_.latest_leader_epoch(); }
    /// Epoch in which the record at `offset` was appended.
    [[nodiscard]] LeaderEpoch leader_epoch_at(Offset offset) const;

    /// False when no aborted transaction ends in the segment that holds `from` or behind it. Cheap.
    [[nodiscard]] bool has_aborted_transactions(Offset from) const;
    /// Aborted transactions that overlap `[from, to)`, in the order of their markers, for fetches with read_committed. It may
    /// miss transactions of segments removed meanwhile, but these lie below the log start by then. Reads the indexes, if there
    /// are any.
    [[nodiscard]] StorageResult<std::vector<AbortedTransactionSummary>> aborted_transactions(Offset from, Offset to) const;

    [[nodiscard]] std::uint64_t size_bytes() const;
    [[nodiscard]] std::vector<SegmentSummary> segments() const;
    [[nodiscard]] std::vector<ProducerSummary> active_producers() const;

    // Keeping it small ---------------------------------------------------------------------------

    /// Moves the log start to `offset` (DeleteRecords) and removes segments that lie wholly below it. Does nothing if `offset` is
    /// at or below the log start; false if it is above the high watermark. Durable once the directory's log-start checkpoint is
    /// written.
    [[nodiscard]] StorageResult<bool> delete_records_before(Offset offset);

    /// Begins a new segment if the active one has at least `least_bytes` (1 or more). So that the bytes before the log end lie in
    /// files that do not grow any more.
    [[nodiscard]] StorageResult<void> begin_segment(std::uint64_t least_bytes, TimestampMs now);

    /// Removes the segments that the config's retention no longer keeps; returns them. Files are unlinked at once:
    /// readers in progress hold the descriptors, so Kafka's file.delete.delay.ms has nothing to protect here.
    ///
    /// Segments with a record at or above `keep_from` stay, whatever the config says. For logs whose checkpoint does not yet
    /// cover their newest records.
    [[nodiscard]] StorageResult<std::vector<SegmentSummary>> apply_retention(TimestampMs now,
                                                                             Offset keep_from = {
                                                                                 std::numeric_limits<std::int64_t>::max()});

    /// The part of the log that a cleaning would compact now, see cleaning_rules.h, below `keep_from`. When
    /// max.compaction.lag.ms is set, reads one batch header of each dirty segment.
    [[nodiscard]] StorageResult<DirtyRange> dirty_range(TimestampMs now,
                                                        Offset keep_from = {std::numeric_limits<std::int64_t>::max()}) const;

    /// Compacts the log up to the end of its dirty range: see log_cleaner.h. Slow; appends and reads go on meanwhile. One call at
    /// a time. Before the first cleaning of a log, its recovery point must be in the checkpoint file. Otherwise recovery could
    /// not tell the log from one that was put here by hand.
    [[nodiscard]] StorageResult<CleaningReport> clean(const CleaningOptions& options);

    /// Everything below this offset was compacted; kNoOffset when nothing was.
    [[nodiscard]] Offset first_dirty_offset() const;

    /// Forgets producers that were idle for longer than producer.id.expiration.ms. Cheap.
    void expire_producers(TimestampMs now);

    void set_config(std::shared_ptr<const LogConfig> config);

    // Durability ---------------------------------------------------------------------------------

    /// Everything below it survives a crash of the machine.
    [[nodiscard]] Offset recovery_point() const { return core_.recovery_point(); }
    [[nodiscard]] bool has_unsynced_data() const { return recovery_point() < log_end_offset(); }
    /// True if zeros may lie behind the records, after small writes to many logs (Segment::write). The sync after the one
    /// that covers the last record cuts them off.
    [[nodiscard]] bool has_window() const;
    /// Makes all published records durable. Blocks on the device: for flusher threads. Appends and reads go on meanwhile.
    [[nodiscard]] StorageResult<Offset> sync();
    /// Does the work of `sync`, and also writes the producer snapshot, leader epochs and index entries, and makes them durable.
    /// If only one of these fails, the log is synced nevertheless.
    [[nodiscard]] StorageResult<Offset> checkpoint();
    /// The offset where the last checkpoint ended. LogDirectory::write_checkpoints writes it down as the log's recovery point: a
    /// start after a crash trusts the files below it, as after a clean stop, and reads no batch there.
    [[nodiscard]] Offset checkpointed_end() const;
    /// True when the log was appended to since the last `checkpoint`, or recovered after a crash. Cheap.
    [[nodiscard]] bool needs_checkpoint() const { return checkpointed_end() != log_end_offset(); }
    /// About how many bytes a start after a crash would have to read. Cheap.
    [[nodiscard]] std::uint64_t bytes_since_checkpoint() const;
    /// Notes that the checkpoint file has this recovery point. Only the directory calls it.
    void note_recovery_point_on_file(Offset offset);

    // Whole life ---------------------------------------------------------------------------------

    [[nodiscard]] const LogTopic& topic() const { return *core_.topic; }
    [[nodiscard]] PartitionIndex partition() const { return core_.partition; }
    /// "<topic>-<partition>".
    [[nodiscard]] std::string directory_name() const;
    [[nodiscard]] std::string directory_path() const;
    /// False until the first append: then there is no directory.
    [[nodiscard]] bool has_files() const;
    /// True if there may be a directory, though no file yet: an append was tried, or the start found the directory.
    [[nodiscard]] bool may_have_directory() const { return core_.state.load() != nullptr; }
    /// Sets the topic of a log that the start found. Called before any other use of the log.
    void take_topic(std::shared_ptr<const LogTopic> topic) { core_.topic = std::move(topic); }
    /// For LogSync.
    [[nodiscard]] LogCore& core() { return core_; }

    /// Hints for opening an existing directory. Opening trusts the data that the hints vouch for, walks over the rest, cuts a
    /// damaged tail, and rebuilds indexes where possible. The directory opens a log once, before any other use.
    struct OpenHints {
        /// The last stop was clean: files are trusted without reading their content.
        bool clean = false;
        /// Another broker wrote the data directory, and this is our first start in it.
        bool is_foreign = false;
        /// Such a start, or a later one.
        bool was_taken_over = false;
        /// From the checkpoint files; kNoOffset if they do not name the partition.
        Offset recovery_point = kNoOffset;
        Offset log_start_offset = kNoOffset;
        Offset first_dirty_offset = kNoOffset;
        TimestampMs now{0};
    };
    [[nodiscard]] StorageResult<RecoveryReport> open_existing(const OpenHints& hints);

    /// Syncs, writes indexes, snapshot and epochs, trims reservations and closes the files. Later appends and reads fail with
    /// `closed`.
    [[nodiscard]] StorageResult<void> close();

    /// Makes every later call fail with `closed` and closes the files. The directory removes them.
    void mark_deleted();

  private:
    [[nodiscard]] PartitionLogState& state_for_append() REQUIRES(core_.append_mutex);

    LogCore core_;
};

}  // namespace partita
