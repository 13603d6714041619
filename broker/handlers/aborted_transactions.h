#pragma once

#include <expected>

#include "protocol/arena.h"
#include "protocol/error_code.h"
#include "protocol/messages/01_fetch.h"
#include "storage/partition_log.h"

namespace partita::handlers {

/// The aborted transactions that a read_committed reader must know to read `slice`: those that overlap it. Later transactions
/// come with their own records. The slice begins with the batch that holds `from`, and `bound` limited it; an empty slice has
/// none. The function reads the headers of the slice's batches if such transactions exist. After an error the caller must not
/// show the slice. The error is OFFSET_OUT_OF_RANGE if the log meanwhile begins after `from`.
[[nodiscard]] std::expected<ArenaVector<FetchResponse::AbortedTransaction>, ErrorCode> aborted_transactions_of(
    Arena& arena, const PartitionLog& log, Offset from, const FileSlice& slice, Offset bound);

}  // namespace partita::handlers
