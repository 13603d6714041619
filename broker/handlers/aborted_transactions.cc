#include "broker/handlers/aborted_transactions.h"

#include "storage/segment.h"

namespace partita::handlers {
namespace {

/// Where the last whole batch of the slice ends.
Offset end_of(const FileSlice& slice) {
    HeaderWalk walk(*slice.file, slice.position, slice.position + slice.size);
    Offset end = slice.base_offset;
    // A batch that is cut off at the end is an error to the walk; it comes again with the next answer.
    for (auto batch = walk.next(); batch && *batch; batch = walk.next()) {
        end = (*batch)->header.last_offset() + 1;
    }
    return end;
}

}  // namespace

ArenaVector<FetchResponse::AbortedTransaction> aborted_transactions_of(Arena& arena, const PartitionLog& log, Offset from,
                                                                       const FileSlice& slice, Offset bound) {
    ArenaVector<FetchResponse::AbortedTransaction> result(arena);
    if (slice.size == 0) {
        return result;
    }
    const std::vector<AbortedTransactionSummary> overlapping = log.aborted_transactions(from, bound);
    if (overlapping.empty()) {
        return result;
    }
    const Offset end = end_of(slice);
    for (const AbortedTransactionSummary& transaction : overlapping) {
        if (transaction.first_offset < end) {
            result.push_back({.producer_id = transaction.producer_id.value, .first_offset = transaction.first_offset.value});
        }
    }
    return result;
}

}  // namespace partita::handlers
