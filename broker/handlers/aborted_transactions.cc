#include "broker/handlers/aborted_transactions.h"

#include <algorithm>

#include "storage/segment.h"

namespace partita::handlers {
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

std::expected<ArenaVector<FetchResponse::AbortedTransaction>, ErrorCode> aborted_transactions_of(
    Arena& arena, const PartitionLog& log, Offset from, const FileSlice& slice, Offset bound) {
    ArenaVector<FetchResponse::AbortedTransaction> result(arena);
    if (slice.size == 0 || !log.has_aborted_transactions(from)) {
        return result;
    }
    const auto overlapping = log.aborted_transactions(from, std::min(bound, end_of(slice)));
    // The log may have removed segments since the read found the slice. Their aborted transactions are then gone as well.
    if (log.log_start_offset() > from) {
        return std::unexpected(ErrorCode::offset_out_of_range);
    }
    if (!overlapping) {
        return std::unexpected(overlapping.error().kind == StorageError::Kind::closed ? ErrorCode::unknown_topic_or_partition
                                                                                      : ErrorCode::kafka_storage_error);
    }
    for (const AbortedTransactionSummary& transaction : *overlapping) {
        result.push_back({.producer_id = transaction.producer_id.value, .first_offset = transaction.first_offset.value});
    }
    return result;
}

}  // namespace partita::handlers
