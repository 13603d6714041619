// InitProducerId: v0-6.
//
//   v2: flexible; v3: the producer may name its id and epoch; v4: PRODUCER_FENCED; v5: transactions v2; v6: two-phase
//   commit, unstable in Kafka 4.3.1 and served with unstable.api.versions.enable only. Its fields speak of transactions.
//
// Without a transactional id the answer is a fresh id with epoch 0. Transactions are not served yet:
// FindCoordinator does not name a coordinator for them, and neither does this.

#include "broker/handlers/authorize.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/partitions/turn.h"
#include "protocol/messages/22_init_producer_id.h"

namespace partita::handlers {

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
    } else {
        // Kafka's producer asks again when its coordinator is loading.
        response.error_code = ErrorCode::coordinator_load_in_progress;
    }
    context.reply(response);
}

}  // namespace partita::handlers
