#pragma once

#include <cstdint>
#include <expected>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "protocol/record_batch.h"
#include "storage/aborted_transactions.h"
#include "storage/key_offsets.h"
#include "storage/producer_state.h"

namespace partita {

/// Follows the transactions of a log, from its start, and tells whose batches never happened. Pure.
class CleanedTransactions {
  public:
    /// `aborted`: all aborted transactions of the log that end at or behind the first batch that will be shown.
    explicit CleanedTransactions(std::vector<AbortedTransaction> aborted);

    /// For every batch that is no control batch, in the order of the log: whether it is of an aborted transaction.
    [[nodiscard]] bool is_aborted(const BatchHeader& header);

    struct Marker {
        /// No batch of its transaction was seen: the marker says nothing any more.
        bool is_needless = false;
        /// It ended an aborted transaction.
        bool is_abort = false;
    };
    /// For every control batch.
    [[nodiscard]] Marker end_transaction(const Batch& batch);

  private:
    void begin_aborted_up_to(Offset last_offset);

    /// Ascending by first offset.
    std::vector<AbortedTransaction> aborted_;
    std::size_t next_aborted_ = 0;
    /// Open aborted transactions, and whether a batch of each was seen.
    std::unordered_map<ProducerId, bool> aborting_;
    /// Producers of which a batch of a transaction that is not aborted was seen.
    std::unordered_set<ProducerId> committing_;
};

/// Decides what stays of every batch of a compacted log. Pure: bytes in, bytes out. Kafka's rules:
///
/// - A record stays while no later one with its key is known; records behind what the keys cover always stay,
///   records without a key never (they got in before the topic was compacted).
/// - Tombstones, and markers of transactions of which nothing is left, stay until the delete horizon of their batch: now +
///   delete.retention.ms, written into the batch by the first cleaning that meets them (KIP-534), so that a
///   consumer that reads from the start within that time sees them.
/// - Batches of aborted transactions go; their markers go a cleaning later.
/// - What stays keeps its offset, its batch's base and last offset, producer, sequence and codec. A batch whose records are all gone
///   goes too, except, without records, the last one of each active producer (its sequence must survive) and the
///   last of a segment (so that the log has no hole where recovery would look for lost data; Kafka keeps only the
///   last of a cleaning).
class BatchCleaner {
  public:
    struct Settings {
        TimestampMs now{0};
        std::int64_t delete_retention_ms = 0;
        /// Every record below it had its key noted in the keys.
        Offset covered_until{0};
    };
    enum class Fate : std::uint8_t { kept, rewritten, emptied, dropped };
    struct Outcome {
        Fate fate = Fate::kept;
        std::int64_t records_read = 0;
        std::int64_t records_kept = 0;
        /// The marker of an aborted transaction went: nothing is left of it.
        bool forgot_abort = false;
    };

    /// `keys` must outlive the cleaner. `producers`: the active ones.
    BatchCleaner(const KeyOffsets& keys, const std::vector<ProducerEntry>& producers,
                 std::vector<AbortedTransaction> aborted, const Settings& settings);

    /// Appends to `out` what stays of `batch`. Batches are shown from the log's first to its last. The error is that of a batch
    /// that cannot be read; `out` is unchanged then.
    [[nodiscard]] std::expected<Outcome, BatchError> clean(const Batch& batch, bool is_last_of_segment,
                                                           std::vector<std::byte>& out);

  private:
    struct LastBatch {
        /// kNoOffset: only its markers are known.
        Offset last_offset = kNoOffset;
        ProducerEpoch epoch{-1};
    };

    [[nodiscard]] bool is_last_of_producer(const BatchHeader& header) const;
    [[nodiscard]] bool stays(const BatchHeader& header, const RecordView& record) const;
    [[nodiscard]] bool is_past_horizon(const BatchHeader& header) const;

    const KeyOffsets& keys_;
    const Settings settings_;
    CleanedTransactions transactions_;
    std::unordered_map<ProducerId, LastBatch> producers_;
};

}  // namespace partita
