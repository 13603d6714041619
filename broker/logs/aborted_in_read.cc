#include "broker/logs/aborted_in_read.h"

#include <algorithm>

#include "protocol/assert.h"
#include "storage/segment.h"

namespace partita::logs {
namespace {

/// The end offset of the last whole batch of the slice.
Offset end_of(const FileSlice& slice) {
    HeaderWalk walk(*slice.file, slice.position, slice.position + slice.size);
    Offset end = slice.base_offset;
    // The walk reports a batch that is cut off at the end as an error; that batch comes again with the next answer.
    for (auto batch = walk.next(); batch && *batch; batch = walk.next()) {
        end = (*batch)->header.last_offset() + 1;
    }
    return end;
}

}  // namespace

std::expected<std::vector<AbortedTransactionSummary>, Outcome> aborted_in_read(const Read& read, const ReadResult& result) {
    PARTITA_ASSERT(read.partition != nullptr && result.outcome == Outcome::ok, "a failed read has no slice");
    const PartitionLog& log = *read.partition->log;
    if (result.slice.size == 0 || !log.has_aborted_transactions(read.from)) {
        return {};
    }
    auto overlapping = log.aborted_transactions(read.from, std::min(result.last_stable_offset, end_of(result.slice)));
    // The log may have removed segments since the read found the slice. Their aborted transactions are then gone as well.
    if (log.log_start_offset() > read.from) {
        return std::unexpected(Outcome::offset_out_of_range);
    }
    if (!overlapping) {
        const bool is_deleted = overlapping.error().kind == StorageError::Kind::closed;
        return std::unexpected(is_deleted ? Outcome::unknown_partition : Outcome::storage_failed);
    }
    return std::move(*overlapping);
}

}  // namespace partita::logs
