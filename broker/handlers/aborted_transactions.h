#pragma once

#include <expected>

#include "protocol/arena.h"
#include "protocol/error_code.h"
#include "protocol/messages/01_fetch.h"
#include "storage/partition_log.h"

namespace partita::handlers {

/// The aborted transactions that a reader of committed records must know to read `slice`: those that overlap it. Later ones come
/// with the records that they are about. The slice begins with the batch that holds `from`, and was bounded by `bound`; for an
/// empty slice there are none. Reads the headers of the slice's batches if there are such transactions. An error means that
/// nobody can say, and that the slice must not be shown: OFFSET_OUT_OF_RANGE when the log begins behind `from` by now.
[[nodiscard]] std::expected<ArenaVector<FetchResponse::AbortedTransaction>, ErrorCode> aborted_transactions_of(
    Arena& arena, const PartitionLog& log, Offset from, const FileSlice& slice, Offset bound);

}  // namespace partita::handlers
