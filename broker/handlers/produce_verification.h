#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string_view>

#include "protocol/error_code.h"
#include "protocol/messages/00_produce.h"
#include "protocol/record_batch.h"
#include "storage/partition_log.h"

namespace partita::runtime {
class RequestContext;
}

/// Transactions in a Produce request (KIP-890): no batch begins a transaction in a partition that its coordinator does not know
/// there, so that none stays open for good.
///
/// A producer that adds partitions so is told CONCURRENT_TRANSACTIONS at once, and comes again. Kafka asks its coordinator again
/// for 100 ms first (add.partitions.to.txn.retry.backoff.max.ms), because it writes markers after it has answered an end. Here
/// they are written before, so that a producer meets this only where one of them could not be written, or where there are more
/// than `coordination::kOutwardWritesMax`; the first lasts for `OwedMarkers::kRetryMs` at least, which is as long as Kafka waits.

namespace partita::handlers {

/// Whether the first batch is one of a transaction, as far as its bytes can tell. Cheap: every Produce asks for each partition.
[[nodiscard]] inline bool is_transactional(const Records& records) {
    constexpr std::size_t kMagicAt = 16;
    constexpr std::size_t kAttributesAt = 21;
    const Bytes bytes = records.bytes();
    return bytes.size() >= kBatchHeaderBytes && bytes[kMagicAt] == std::byte{2} &&
           (bytes[kAttributesAt + 1] & std::byte{BatchAttributes::kTransactionalBit}) != std::byte{0};
}

/// What is known of one partition of a request before its batch is staged.
struct PartitionVerification {
    ErrorCode error = ErrorCode::none;
    /// For clients, beside the error; empty when the code says all.
    std::string_view message;
    /// For AppendContext.
    std::optional<TransactionVerification> verification;
};

/// Asks the coordinator, once for all partitions of the request that must be asked for; clients of version 12 and later leave it
/// to this to add the partitions to the transaction. The request has a transactional id, which the client may use. The result is
/// in the order of the request's partitions and lives in the turn's arena; an error is that of the whole request, of which
/// nothing may be staged then.
[[nodiscard]] std::expected<Array<PartitionVerification>, ErrorCode> verify_transactions(runtime::RequestContext& context,
                                                                                         const ProduceRequest& request,
                                                                                         std::size_t partition_count);

}  // namespace partita::handlers
