#pragma once

#include <span>
#include <vector>

#include "broker/share/record_state.h"
#include "protocol/types.h"

namespace partita::share {

/// A batch of the log, by its header.
struct ReadBatch {
    Offset base;
    /// Inclusive.
    Offset last;
    ProducerId producer_id = kNoProducerId;
    bool is_transactional = false;
    /// A marker ends the producer's transaction: the aborted one if the producer has one that began before.
    bool is_marker = false;
};

struct AbortedTransaction {
    ProducerId producer_id;
    Offset first_offset;
};

/// The batches with records of aborted transactions.
[[nodiscard]] std::vector<ReadBatch> aborted_batches(std::span<const ReadBatch> batches,
                                                     std::span<const AbortedTransaction> aborted);

/// The ranges without the records of these batches. Both are ascending.
[[nodiscard]] std::vector<AcquiredRange> ranges_without(std::span<const AcquiredRange> ranges,
                                                        std::span<const ReadBatch> left_out);

}  // namespace partita::share
