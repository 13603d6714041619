#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/producer_state.h"

namespace partita {

/// One entry of Kafka's `.txnindex`: version int16 = 0, then producer id, first offset, last offset (of the marker) and
/// the last stable offset at that moment, int64 each; 34 bytes. The entry lies in the index of the segment that holds
/// the marker.
struct AbortedTransaction {
    static constexpr std::size_t kEncodedBytes = 34;

    ProducerId producer_id;
    Offset first_offset;
    Offset last_offset;
    Offset last_stable_offset;

    void encode(std::byte* to) const;
    [[nodiscard]] static std::optional<AbortedTransaction> decode(Bytes bytes);
    friend bool operator==(const AbortedTransaction&, const AbortedTransaction&) = default;
};

/// The aborted transactions of a log, ascending by last offset. Pure; the log loads and writes the files.
class AbortedTransactions {
  public:
    /// Does nothing when a transaction with this last offset, or a later one, is known (replay after a crash).
    void add(const AbortedTransaction& transaction);
    [[nodiscard]] std::vector<AbortedTransactionSummary> overlapping(Offset from, Offset to) const;
    void truncate_from_start(Offset start);
    void truncate_from_end(Offset end);
    /// The transactions that no file holds yet.
    [[nodiscard]] std::vector<AbortedTransaction> unwritten() const;
    void mark_written() { written_ = entries_.size(); }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    /// Ascending by last offset.
    [[nodiscard]] const std::vector<AbortedTransaction>& entries() const { return entries_; }
    /// Forgets the transaction whose marker was at `last_offset`, because compaction left nothing of it.
    void remove(Offset last_offset);

  private:
    std::vector<AbortedTransaction> entries_;
    std::size_t written_ = 0;
};

}  // namespace partita
