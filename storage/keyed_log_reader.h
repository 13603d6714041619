#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "protocol/record_batch.h"
#include "storage/keyed_log_checkpoint.h"

namespace partita {

/// Reads the records of a keyed log one batch at a time, without records of aborted transactions. The reader holds only the
/// aborted transactions that overlap the bytes it read last. These are at most the transactions with a marker in those bytes, and
/// one per producer with a transaction open behind them.
class KeyedLogReader {
  public:
    /// Reads `[from, to)`; `from` is the start of a batch or lies in one.
    KeyedLogReader(const PartitionLog& log, Offset from, Offset to, const KeyedLogOptions& options);

    /// Passes the records of the next data batch to `visitor`; false at the end, and beyond `KeyedLogOptions::bytes_max`.
    /// Afterwards `position` is the end of that batch.
    [[nodiscard]] StorageResult<bool> next_batch(KeyedRecordVisitor visitor);
    /// Every record below this offset was passed to a visitor or left out.
    [[nodiscard]] Offset position() const { return position_; }
    [[nodiscard]] std::size_t bytes_read() const { return bytes_read_; }
    /// The number of aborted transactions that the reader holds now.
    [[nodiscard]] std::size_t held_transactions() const { return aborted_.size(); }

  private:
    [[nodiscard]] StorageResult<bool> fill();
    /// Looks up the aborted transactions that overlap the read bytes.
    [[nodiscard]] StorageResult<void> find_aborted();
    [[nodiscard]] StorageResult<void> visit_batch(const Batch& batch, KeyedRecordVisitor visitor);
    [[nodiscard]] bool is_aborted(const Batch& batch);
    [[nodiscard]] bool is_open(const Batch& batch) const;
    [[nodiscard]] StorageError damaged(Offset at, std::string_view why) const;

    const PartitionLog& log_;
    const Offset from_;
    const Offset to_;
    const KeyedLogOptions options_;
    Offset position_;
    std::vector<std::byte> buffer_;
    std::size_t consumed_ = 0;
    std::size_t bytes_read_ = 0;
    /// The aborted transactions that overlap the buffer, ascending by first offset. Those before `next_aborted_` have begun.
    std::vector<AbortedTransactionSummary> aborted_;
    std::size_t next_aborted_ = 0;
    std::set<std::int64_t> aborting_producers_;
    std::vector<ProducerSummary> open_transactions_;
};

}  // namespace partita
