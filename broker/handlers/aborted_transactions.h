#pragma once

#include "protocol/arena.h"
#include "protocol/messages/01_fetch.h"
#include "storage/partition_log.h"

namespace partita::handlers {

/// The aborted transactions that a reader of committed records must know to read the slice, which begins with the batch
/// that holds `from`: those that overlap it, and no later ones, which come with the records that they are about. None for
/// an empty slice. `bound` is what the slice was bounded by. Reads the headers of the slice's batches when there are any.
[[nodiscard]] ArenaVector<FetchResponse::AbortedTransaction> aborted_transactions_of(Arena& arena, const PartitionLog& log,
                                                                                     Offset from, const FileSlice& slice,
                                                                                     Offset bound);

}  // namespace partita::handlers
