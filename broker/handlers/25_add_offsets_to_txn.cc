// AddOffsetsToTxn: v0-4.
//
//   v2: PRODUCER_FENCED; v3: flexible; v4: TRANSACTION_ABORTABLE.
//
// Adds the partition of the group's coordinator to the transaction. Clients of KIP-890 do not send this request: for them
// TxnOffsetCommit adds the partition.

#include "protocol/messages/25_add_offsets_to_txn.h"
#include "broker/catalog/catalog.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/made_coordinators.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/transaction_requests.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(add_offsets_to_txn, coordinators, access::kWriteTransactionalId, access::kReadGroup);

namespace {

constexpr std::int16_t kKnowsFenced = 2;

ErrorCode add_offsets(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators,
                      const AddOffsetsToTxnRequest& request) {
    if (!authorize(context, access::kWriteTransactionalId, request.transactional_id)) {
        return ErrorCode::transactional_id_authorization_failed;
    }
    if (!authorize(context, access::kReadGroup, request.group_id)) {
        return ErrorCode::group_authorization_failed;
    }
    const runtime::GroupShards& groups = coordinators.groups;
    // Without a transaction coordinator the code below returns the error, so it creates no groups topic for it.
    if (coordinators.transactions.is_attached() &&
        !made_coordinators(context, coordinators.catalog, catalog::CoordinatorKind::groups, groups)) {
        return ErrorCode::coordinator_not_available;
    }
    const std::size_t shard = groups.is_attached() ? groups.shard_of(request.group_id) : 0;
    const transactions::WrittenPartition offsets{catalog::kOffsetsTopicName, PartitionIndex{static_cast<std::int32_t>(shard)}};
    const auto result =
        ask_coordinator(context, coordinators,
                        transactions::AddPartitions{.transactional_id = request.transactional_id,
                                                    .producer = producer_of(request.producer_id, request.producer_epoch),
                                                    .partitions = {&offsets, 1},
                                                    .client_version = client_version(false)});
    return fenced_as_known(result ? result->error : result.error(), context.version(), kKnowsFenced);
}

}  // namespace

void add_offsets_to_txn(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const AddOffsetsToTxnRequest* request = context.decode<AddOffsetsToTxnRequest>();
    if (request == nullptr) {
        return;
    }
    AddOffsetsToTxnResponse response;
    response.error_code = add_offsets(context, coordinators, *request);
    context.reply(response);
}

}  // namespace partita::handlers
