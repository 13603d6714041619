// InitProducerId: v0-6.
//
//   v2: flexible; v3: the producer may name its id and epoch; v4: PRODUCER_FENCED; v5: transactions v2; v6: two-phase
//   commit, unstable in Kafka 4.3.1 and served with unstable.api.versions.enable only. Its fields speak of transactions.
//
// Without a transactional id the answer is a fresh id with epoch 0. Transactions are not served yet:
// FindCoordinator does not name a coordinator for them, and neither does this.

#include "protocol/messages/22_init_producer_id.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/loop/fail_stop.h"
#include "broker/runtime/partitions/turn.h"
#include "broker/runtime/partitions/turns.h"
#include "storage/log_flusher.h"

namespace partita::handlers {

namespace {

/// Replies once the device has what says that the id is taken. Else a power failure could have it given out again, and logs that
/// kept records of its first producer would take batches of the second for repeated ones.
void reply_when_durable(runtime::RequestContext& context, const InitProducerIdResponse& response) {
    runtime::Services& services = context.services;
    const std::shared_ptr<PartitionLog> catalog_log = services.catalog.own_log();
    if (!catalog_log->has_unsynced_data()) {
        context.reply(response);
        return;
    }
    const runtime::PendingReply pending = context.defer();
    const auto give = [&services, pending](InitProducerIdResponse given, bool is_durable) {
        if (!is_durable) {
            given = {.error_code = ErrorCode::coordinator_load_in_progress, .producer_epoch = -1};
        }
        services.turns.deliver(pending.target, runtime::encode_reply(pending, given));
    };
    const bool is_queued = services.flusher.request_sync(catalog_log, [give, response](const StorageResult<Offset>& synced) {
        if (!synced && synced.error().kind == StorageError::Kind::sync_failed) {
            runtime::fail_stop(synced.error());
        }
        give(response, synced.has_value());
    });
    if (!is_queued) {
        give(response, false);
    }
}

}  // namespace

void init_producer_id(runtime::RequestContext& context) {
    const InitProducerIdRequest* request = context.decode<InitProducerIdRequest>();
    if (request == nullptr) {
        return;
    }
    InitProducerIdResponse response;
    response.producer_epoch = -1;
    if (request->transactional_id && !authorize(context, access::kWriteTransactionalId, *request->transactional_id)) {
        response.error_code = ErrorCode::transactional_id_authorization_failed;
        context.reply(response);
        return;
    }
    if (!request->transactional_id && !authorize_any(context, access::kWriteTopicOrIdempotently)) {
        response.error_code = ErrorCode::cluster_authorization_failed;
        context.reply(response);
        return;
    }
    note_producer(context);
    const bool only_one_given = (request->producer_id == -1) != (request->producer_epoch == -1);
    if (only_one_given || (request->transactional_id && request->transactional_id->empty())) {
        response.error_code = ErrorCode::invalid_request;
    } else if (request->transactional_id) {
        response.error_code = ErrorCode::coordinator_not_available;
    } else if (const auto id = context.services.catalog.next_producer_id(context.turn)) {
        response.producer_id = id->value;
        response.producer_epoch = 0;
        reply_when_durable(context, response);
        return;
    } else {
        // Kafka's producer asks again when its coordinator is loading.
        response.error_code = ErrorCode::coordinator_load_in_progress;
    }
    context.reply(response);
}

}  // namespace partita::handlers
