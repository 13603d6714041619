// DescribeTransactions: v0, flexible (KIP-664).
//
// Transactions are not served, and no transactional id has a coordinator here.

#include "protocol/messages/65_describe_transactions.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"

namespace partita::handlers {

void describe_transactions(runtime::RequestContext& context) {
    const DescribeTransactionsRequest* request = context.decode<DescribeTransactionsRequest>();
    if (request == nullptr) {
        return;
    }
    ArenaVector<DescribeTransactionsResponse::TransactionState> states(context.arena(), request->transactional_ids.count());
    for (const std::string_view id : request->transactional_ids) {
        ErrorCode error = ErrorCode::transactional_id_authorization_failed;
        if (authorize(context, access::kDescribeTransactionalId, id)) {
            error = id.empty() ? ErrorCode::invalid_request : ErrorCode::not_coordinator;
        }
        states.push_back({.error_code = error, .transactional_id = id});
    }
    DescribeTransactionsResponse response;
    response.transaction_states = states;
    context.reply(response);
}

}  // namespace partita::handlers
