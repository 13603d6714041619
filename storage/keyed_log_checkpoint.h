#pragma once

#include <cstdint>
#include <limits>
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

/// Keyed logs and their checkpoint. The broker writes changes to the log first. From time to time it folds the latest ones into
/// the metadata store. A start loads the store and reads the rest of the log.
///
/// A fold syncs the log before it writes to the store, so on an honest disk the store never knows more than the log. It can be
/// ahead if the disk lied, or if a log directory was removed by hand. Nothing that the store knows is thrown away then, because
/// it was acknowledged. `replay_keyed_log` moves the fold position back to the log's end and reports it. A later fold reads the
/// records appended from there on again, and they win, being newer.
///
/// A log may lose the records below its fold position (by retention or compaction), because the store has them.
namespace partita {

/// One record as visitors get it. Borrows its bytes until the call returns.
struct KeyedRecord {
    Bytes key;
    /// Empty for a tombstone.
    std::optional<Bytes> value;
    /// kNoOffset for a record from the checkpoint, which has no tombstones.
    Offset offset = kNoOffset;
    TimestampMs timestamp = kNoTimestamp;
    ProducerId producer_id = kNoProducerId;
    ProducerEpoch producer_epoch{-1};
    /// The record belongs to a transaction that is neither committed nor aborted yet.
    bool in_open_transaction = false;
};

struct KeyedLogOptions {
    /// Bytes read from the log at a time. A larger batch is read whole.
    std::uint32_t read_bytes = 1 << 20;
    /// A KeyedLogReader ends after about this many bytes.
    std::size_t bytes_max = std::numeric_limits<std::size_t>::max();
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
    /// The store was ahead of the log by this many records, so its fold position was moved back: worth a warning.
    std::int64_t rewound_records = 0;
};

/// A visitor returns an error to stop; that error becomes the result.
using KeyedRecordVisitor = FunctionRef<StorageResult<void>(const KeyedRecord& record)>;

/// Reads one keyed log at a start: first every key of its checkpoint, then the rest of the log, in its order. Leaves out control
/// batches and records of aborted transactions. Errors: `corrupt` when a batch of the tail fails its checksum, or when records
/// are missing in between (see `accept_missing_history`). Errors of the log, the store and the visitor pass through.
[[nodiscard]] StorageResult<KeyedReplayReport> replay_keyed_log(const PartitionLog& log, MetadataStore& store,
                                                                KeyedRecordVisitor visitor, const KeyedLogOptions& options = {});

struct KeyedFoldReport {
    struct Log {
        /// `keyed_log_name`.
        std::string name;
        Offset folded_until{0};
    };
    /// One entry per given log, in the given order. Retention may remove records below `folded_until`.
    std::vector<Log> logs;
    std::uint64_t records = 0;
    /// Last values and tombstones written to the store.
    std::uint64_t changes = 0;
    std::uint64_t transactions = 0;
};

/// Folds everything appended to the logs since the last fold, many logs in one transaction. Reads up to the last stable offset,
/// because records of open transactions are not decided yet. A crash at any moment leaves each log at the position of a committed
/// transaction. Folding a record twice changes nothing. A failed sync is reported as `sync_failed`. Blocks on the device: for a
/// background thread, one call at a time.
[[nodiscard]] StorageResult<KeyedFoldReport> fold_keyed_logs(std::span<const std::shared_ptr<PartitionLog>> logs,
                                                             MetadataStore& store, const KeyedLogOptions& options = {});

}  // namespace partita
