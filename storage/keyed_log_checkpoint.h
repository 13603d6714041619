#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/function_ref.h"
#include "protocol/types.h"
#include "storage/keyed_log_name.h"
#include "storage/metadata_store.h"
#include "storage/partition_log.h"
#include "storage/storage_error.h"

/// Keyed logs and their checkpoint. Changes are written to the log first; from time to time the latest ones are folded
/// into the metadata store; a start loads the store and reads the rest of the log.
///
/// Which of the two may be ahead. A fold syncs the log before it writes to the store, so on an honest disk the store
/// never knows more than the log keeps. If it does all the same (a disk that lied, a log directory that was removed by
/// hand), nothing that the store knows is thrown away, because it was acknowledged. `replay_keyed_log` then moves the
/// fold position back to the log's end and reports it: records that are appended from there on are folded again and
/// win, being newer.
///
/// A log may lose what lies below its fold position (by retention or compaction), because the store has it.
namespace partita {

/// One record as visitors get it. Borrows its bytes until the call returns.
struct KeyedRecord {
    Bytes key;
    /// Empty for a tombstone.
    std::optional<Bytes> value;
    /// kNoOffset for a record from the checkpoint; there are no tombstones among these.
    Offset offset = kNoOffset;
    TimestampMs timestamp = kNoTimestamp;
    ProducerId producer_id = kNoProducerId;
    ProducerEpoch producer_epoch{-1};
    /// The record belongs to a transaction that is neither committed nor aborted yet.
    bool in_open_transaction = false;
};

struct KeyedLogOptions {
    /// Bytes of the log that are read at a time; a larger batch is read whole.
    std::uint32_t read_bytes = 1 << 20;
    /// A fold holds about this much (and one batch) in memory before it commits a part.
    std::size_t held_bytes = 16 << 20;
    /// Go on even when records between the fold position and the log's start no longer exist anywhere.
    bool accept_missing_history = false;
};

struct KeyedReplayReport {
    std::uint64_t checkpoint_rows = 0;
    std::uint64_t tail_records = 0;
    /// The part of the log that was read; the end is exclusive.
    Offset tail_start{0};
    Offset tail_end{0};
    /// The store was ahead of the log by this many records, and its fold position was moved back: worth a warning.
    std::int64_t rewound_records = 0;
};

/// A visitor returns an error to stop; that error becomes the result.
using KeyedRecordVisitor = FunctionRef<StorageResult<void>(const KeyedRecord& record)>;

/// Reads one keyed log at a start: first every key of its checkpoint, then the log from there to its end, in its order.
/// Leaves out control batches and records of aborted transactions. Errors: `corrupt` when a batch of the tail fails its
/// checksum, or when records are missing in between (see `accept_missing_history`), and those of log, store and
/// visitor.
[[nodiscard]] StorageResult<KeyedReplayReport> replay_keyed_log(const PartitionLog& log, MetadataStore& store,
                                                                KeyedRecordVisitor visitor, const KeyedLogOptions& options = {});

struct KeyedFoldReport {
    struct Log {
        /// `keyed_log_name`.
        std::string name;
        Offset folded_until{0};
    };
    /// One entry for every log given, in that order. Retention may remove what lies below `folded_until`.
    std::vector<Log> logs;
    std::uint64_t records = 0;
    /// Last values and tombstones that went into the store.
    std::uint64_t changes = 0;
    std::uint64_t transactions = 0;
};

/// Folds what was appended to the logs since the last fold, many logs in one transaction. Reads up to the last stable
/// offset, because records of open transactions are not decided yet. A crash at any moment leaves each log at the
/// position of a committed transaction; folding a record twice changes nothing. A failed sync is reported as
/// `sync_failed`. Blocks on the device: for a background thread, one call at a time.
[[nodiscard]] StorageResult<KeyedFoldReport> fold_keyed_logs(std::span<const std::shared_ptr<PartitionLog>> logs,
                                                             MetadataStore& store, const KeyedLogOptions& options = {});

}  // namespace partita
