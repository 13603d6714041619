#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/types.h"
#include "storage/keyed_log_name.h"
#include "storage/metadata_store.h"
#include "storage/partition_log.h"
#include "storage/storage_error.h"

/// Keyed logs and their checkpoint: the log is written first; from time to time its news are folded into
/// the metadata store; a start loads the store and reads the rest of the log.
///
/// Which of the two may be ahead. A fold syncs the log before it writes to the store, so on an honest disk the store
/// never knows more than the log keeps. Should it do so all the same (a disk that lied, a log directory
/// that was removed by hand), then nothing that the store knows is thrown away: it was acknowledged. The
/// fold position is moved back to the log's end, so that what is appended from there on is folded again and, being
/// newer, wins. `replay_keyed_log` does that and reports it.
///
/// A log may lose what lies below its fold position (retention, compaction): the store has it.
namespace partita {

/// One record as it is handed out. Borrows until the call returns.
struct KeyedRecord {
    Bytes key;
    /// Absent: a tombstone.
    std::optional<Bytes> value;
    /// kNoOffset for what comes from the checkpoint; there are no tombstones then.
    Offset offset = kNoOffset;
    TimestampMs timestamp = kNoTimestamp;
    ProducerId producer_id = kNoProducerId;
    ProducerEpoch producer_epoch{-1};
    /// It was written in a transaction that is neither committed nor aborted yet.
    bool in_open_transaction = false;
};

struct KeyedLogOptions {
    /// Bytes of the log that are read at a time; a larger batch is read whole.
    std::uint32_t read_bytes = 1 << 20;
    /// A fold holds about this much (and one batch) in memory before it commits a part.
    std::size_t held_bytes = 16 << 20;
    /// Go on although records between the fold position and the log's start exist nowhere any more.
    bool accept_missing_history = false;
};

struct KeyedReplayReport {
    std::uint64_t checkpoint_rows = 0;
    std::uint64_t tail_records = 0;
    /// The tail that was read, exclusive end.
    Offset tail_start{0};
    Offset tail_end{0};
    /// The store was ahead of the log by so many records, and was moved back: worth a warning.
    std::int64_t rewound_records = 0;
};

/// Return an error to stop: it becomes the result.
using KeyedRecordVisitor = std::function<StorageResult<void>(const KeyedRecord& record)>;

/// Start-up of one keyed log: first every key of its checkpoint, then the log from there to its end, in
/// its order. Control batches and records of aborted transactions are left out. Errors: `corrupt` when a
/// batch of the tail fails its checksum, or when records are missing in between (see
/// `accept_missing_history`), and those of log, store and visitor.
[[nodiscard]] StorageResult<KeyedReplayReport> replay_keyed_log(const PartitionLog& log, MetadataStore& store,
                                                                const KeyedRecordVisitor& visitor,
                                                                const KeyedLogOptions& options = {});

struct KeyedFoldReport {
    struct Log {
        /// `keyed_log_name`.
        std::string name;
        Offset folded_until{0};
    };
    /// Every log that was given, in that order. What lies below `folded_until` may go from the log.
    std::vector<Log> logs;
    std::uint64_t records = 0;
    /// Last values and tombstones that went into the store.
    std::uint64_t changes = 0;
    std::uint64_t transactions = 0;
};

/// Folds what was appended since the last time, of many logs in common transactions. Reads up to the
/// last stable offset (records of open transactions are not decided yet). A crash at any moment leaves each log at the
/// position of a committed transaction; folding a record twice changes nothing. A failed sync comes out
/// as `sync_failed`. Blocks on the device: for a background thread, one at a time.
[[nodiscard]] StorageResult<KeyedFoldReport> fold_keyed_logs(std::span<const std::shared_ptr<PartitionLog>> logs,
                                                             MetadataStore& store, const KeyedLogOptions& options = {});

}  // namespace partita
