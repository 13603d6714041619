// InitProducerId: v0-6.
//
//   v2: flexible; v3: the producer may name its id and epoch; v4: PRODUCER_FENCED; v5: transactions v2; v6: two-phase commit,
//   unstable in Kafka 4.3.1 and served with unstable.api.versions.enable only; its fields are about transactions.
//
// Without a transactional id the answer is a fresh id with epoch 0; with one, its coordinator decides.

#include "protocol/messages/22_init_producer_id.h"
#include "broker/access/offer.h"
#include "broker/config/current_config.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/transaction_requests.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(init_producer_id, coordinators, access::kWriteTransactionalId, access::kTwoPhaseCommitTransactionalId,
                    access::kWriteTopicOrIdempotently);

namespace {

constexpr std::int16_t kKnowsFenced = 4;

InitProducerIdResponse refused(ErrorCode error) { return {.error_code = error, .producer_epoch = -1}; }

/// The error in the request itself, regardless of its producer and coordinator.
ErrorCode problem_of(const runtime::RequestContext& context, const InitProducerIdRequest& request) {
    const bool only_one_given = (request.producer_id == -1) != (request.producer_epoch == -1);
    if (only_one_given || (request.transactional_id && request.transactional_id->empty())) {
        return ErrorCode::invalid_request;
    }
    if (!request.transactional_id) {
        return ErrorCode::none;
    }
    if (context.services.extensions.offer != nullptr && !context.services.extensions.offer->has_transactions()) {
        return ErrorCode::invalid_request;
    }
    // transaction.two.phase.commit.enable is off. Kafka 4.3.1 keeps no prepared transactions at all.
    if (request.enable2_pc) {
        return ErrorCode::transactional_id_authorization_failed;
    }
    if (request.keep_prepared_txn) {
        return ErrorCode::unsupported_version;
    }
    const std::int32_t timeout_ms = request.transaction_timeout_ms;
    const bool is_good = timeout_ms > 0 && timeout_ms <= context.services.config->transaction_max_timeout_ms;
    return is_good ? ErrorCode::none : ErrorCode::invalid_transaction_timeout;
}

void init_transactional(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators,
                        const InitProducerIdRequest& request) {
    transactions::InitProducerId command{.transactional_id = *request.transactional_id,
                                         .timeout_ms = request.transaction_timeout_ms};
    if (request.producer_id != -1) {
        command.expected = producer_of(request.producer_id, request.producer_epoch);
    }
    const auto result = ask_with_fresh_id(context, coordinators, command);
    const ErrorCode error = result ? result->error : result.error();
    if (error != ErrorCode::none) {
        return context.reply(refused(fenced_as_known(error, context.version(), kKnowsFenced)));
    }
    const InitProducerIdResponse response{.producer_id = result->producer.id.value,
                                          .producer_epoch = result->producer.epoch.value};
    reply_to_producer(context, coordinators, request.producer_id, response, refused(ErrorCode::coordinator_load_in_progress));
}

}  // namespace

void init_producer_id(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const InitProducerIdRequest* request = context.decode<InitProducerIdRequest>();
    if (request == nullptr) {
        return;
    }
    if (request->transactional_id && !authorize(context, access::kWriteTransactionalId, *request->transactional_id)) {
        return context.reply(refused(ErrorCode::transactional_id_authorization_failed));
    }
    if (request->transactional_id && request->enable2_pc &&
        !authorize(context, access::kTwoPhaseCommitTransactionalId, *request->transactional_id)) {
        return context.reply(refused(ErrorCode::transactional_id_authorization_failed));
    }
    if (!request->transactional_id && !authorize_any(context, access::kWriteTopicOrIdempotently)) {
        return context.reply(refused(ErrorCode::cluster_authorization_failed));
    }
    note_producer(context);
    if (const ErrorCode problem = problem_of(context, *request); problem != ErrorCode::none) {
        return context.reply(refused(problem));
    }
    if (request->transactional_id) {
        return init_transactional(context, coordinators, *request);
    }
    const auto id = coordinators.catalog.next_producer_id(context.turn);
    if (!id) {
        return context.reply(refused(ErrorCode::coordinator_load_in_progress));
    }
    reply_when_ids_are_durable(context, coordinators, {.producer_id = id->value, .producer_epoch = 0},
                               refused(ErrorCode::coordinator_load_in_progress));
}

}  // namespace partita::handlers
