#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "protocol/record_batch.h"
#include "storage/aborted_transactions.h"
#include "storage/key_offsets.h"
#include "storage/producer_state.h"

namespace partita {

/// Follows the transactions of a log from its start, and tells which batches belong to aborted ones. Pure.
class CleanedTransactions {
  public:
    /// Announces the aborted transactions of the batches that follow. The caller passes each transaction once: first those that
    /// overlap the first batches, then, before each further stretch of the log, those that begin in it.
    void expect(std::vector<AbortedTransaction> aborted);

    /// Whether the batch belongs to an aborted transaction. The caller passes every batch except control batches, in the order of
    /// the log.
    [[nodiscard]] bool is_aborted(const BatchHeader& header);

    struct Marker {
        /// The cleaner saw no batch of the marker's transaction, so the marker has no meaning any more.
        bool is_needless = false;
        /// The marker ended an aborted transaction.
        bool is_abort = false;
    };
    /// The caller passes every control batch, in the order of the log.
    [[nodiscard]] Marker end_transaction(const Batch& batch);

  private:
    void begin_aborted_up_to(Offset last_offset);

    /// Ascending by first offset, without the transactions that have begun.
    std::deque<AbortedTransaction> aborted_;
    /// Open aborted transactions; the value tells whether the cleaner saw a batch of it.
    std::unordered_map<ProducerId, bool> aborting_;
    /// Producers with a batch, already seen, of a transaction that is not aborted.
    std::unordered_set<ProducerId> committing_;
};

/// Decides what to keep of every batch of a compacted log. Pure: bytes in, bytes out. Kafka's rules:
///
/// - Records behind the range that the keys cover stay.
/// - In that range a record stays while the keys know no later record with its key. A record without a key goes: it was written
///   before the topic was compacted.
/// - Tombstones, and markers of transactions without any record left, stay until the delete horizon of their batch. A consumer
///   that reads from the start within that time sees them. The first cleaning that meets them writes the horizon, now +
///   delete.retention.ms, into the batch (KIP-534).
/// - Batches of aborted transactions go; their markers go in a later cleaning.
/// - A record that stays keeps its offset. Its batch keeps base offset, last offset, producer, sequence and codec.
/// - An entry of message format 0 or 1 is written as a batch of format 2, in the same codec, from its first record that stays to
/// its
///   last. It has no horizon, so a tombstone in it goes at once if its segment was written long before the newest clean one.
/// - A batch goes when all its records are gone. Two kinds stay without records: the last batch of each active producer, whose
///   sequence must survive, and the last batch of a segment. Without the latter, the log would have a hole between two segments,
///   which recovery takes for lost data. (Kafka keeps only the last batch of a cleaning.)
class BatchCleaner {
  public:
    struct Settings {
        TimestampMs now{0};
        std::int64_t delete_retention_ms = 0;
        /// The keys know every record below this offset.
        Offset covered_until{0};
    };
    enum class Fate : std::uint8_t { kept, rewritten, emptied, dropped };
    struct Outcome {
        Fate fate = Fate::kept;
        std::int64_t records_read = 0;
        std::int64_t records_kept = 0;
        /// The cleaner removed the marker of an aborted transaction: nothing of the transaction is left.
        bool forgot_abort = false;
    };

    /// `keys` must outlive the cleaner. `producers` are the active ones.
    BatchCleaner(const KeyOffsets& keys, const std::vector<ProducerEntry>& producers, const Settings& settings);

    [[nodiscard]] CleanedTransactions& transactions() { return transactions_; }
    /// Called before the batches of a segment: whether tombstones of the formats 0 and 1 in it stay.
    void begin_segment(bool keeps_legacy_tombstones) { keeps_legacy_tombstones_ = keeps_legacy_tombstones; }

    /// Appends to `out` the part of `batch` that stays. The caller passes the log's batches from the first to the last. Fails
    /// when the batch cannot be read, and then leaves `out` unchanged.
    [[nodiscard]] std::expected<Outcome, BatchError> clean(const Batch& batch, bool is_last_of_segment,
                                                           std::vector<std::byte>& out);

  private:
    struct LastBatch {
        /// kNoOffset when only markers of the producer are known.
        Offset last_offset = kNoOffset;
        ProducerEpoch epoch{-1};
    };

    [[nodiscard]] bool is_last_of_producer(const BatchHeader& header) const;
    [[nodiscard]] bool stays(const BatchHeader& header, const RecordView& record) const;
    [[nodiscard]] bool is_past_horizon(const BatchHeader& header) const;
    [[nodiscard]] std::expected<Outcome, BatchError> clean_legacy(const Batch& entry, bool is_last_of_segment,
                                                                  std::vector<std::byte>& out) const;

    const KeyOffsets& keys_;
    const Settings settings_;
    CleanedTransactions transactions_;
    std::unordered_map<ProducerId, LastBatch> producers_;
    bool keeps_legacy_tombstones_ = true;
};

}  // namespace partita
