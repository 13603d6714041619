#pragma once

#include <cstdint>

#include "storage/partition_log.h"

/// What a Fetch answer takes of the capacity that all clients share (SharedCapacity).

namespace partita::handlers {

/// Counts the records of the whole batches in the slice, and cuts off what is behind these: a batch that is there in part, and
/// the one with which there would be more than `records_max` records; the first batch stays if it is to. Reads the heads of the
/// batches, from the page cache as a rule.
[[nodiscard]] std::int64_t count_and_cut(FileSlice& slice, std::int64_t records_max, bool keeps_first_batch);

}  // namespace partita::handlers
