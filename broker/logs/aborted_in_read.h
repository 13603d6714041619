#pragma once

#include <expected>
#include <vector>

#include "broker/logs/outcome.h"
#include "broker/logs/read_request.h"

namespace partita::logs {

/// The aborted transactions that a read_committed reader must know to read the slice of `result`: those that overlap it. Later
/// transactions come with their own records. An empty slice has none. Reads the headers of the slice's batches if such
/// transactions exist.
///
/// After an error the caller must not show the slice. The error is `offset_out_of_range` if the partition meanwhile begins after
/// `read.from`, `unknown_partition` if it was deleted, or `storage_failed`.
[[nodiscard]] std::expected<std::vector<AbortedTransactionSummary>, Outcome> aborted_in_read(const Read& read,
                                                                                             const ReadResult& result);

}  // namespace partita::logs
