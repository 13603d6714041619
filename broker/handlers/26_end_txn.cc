// EndTxn: v0-5.
//
//   v2: PRODUCER_FENCED; v3: flexible; v4: TRANSACTION_ABORTABLE; v5: transactions of the second protocol (KIP-890): the answer
//   has the id and epoch with which the producer continues.

#include "protocol/messages/26_end_txn.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/transaction_requests.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(end_txn, coordinators, access::kWriteTransactionalId);

namespace {

constexpr std::int16_t kKnowsFenced = 2;
constexpr std::int16_t kSecondProtocol = 5;

EndTxnResponse refused(ErrorCode error) { return {.error_code = error}; }

}  // namespace

void end_txn(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const EndTxnRequest* request = context.decode<EndTxnRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize(context, access::kWriteTransactionalId, request->transactional_id)) {
        return context.reply(refused(ErrorCode::transactional_id_authorization_failed));
    }
    const bool is_second_protocol = context.version() >= kSecondProtocol;
    const auto result =
        ask_with_fresh_id(context, coordinators,
                          transactions::EndTransaction{.transactional_id = request->transactional_id,
                                                       .producer = producer_of(request->producer_id, request->producer_epoch),
                                                       .commit = request->committed,
                                                       .client_version = client_version(is_second_protocol)});
    const ErrorCode error = result ? result->error : result.error();
    if (error != ErrorCode::none) {
        return context.reply(refused(fenced_as_known(error, context.version(), kKnowsFenced)));
    }
    if (!is_second_protocol) {
        return context.reply(EndTxnResponse{});
    }
    reply_to_producer(context, coordinators, request->producer_id,
                      EndTxnResponse{.producer_id = result->producer.id.value, .producer_epoch = result->producer.epoch.value},
                      refused(ErrorCode::coordinator_load_in_progress));
}

}  // namespace partita::handlers
