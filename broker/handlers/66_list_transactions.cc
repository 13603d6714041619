// ListTransactions: v0-2, flexible (KIP-664).
//
//   v1: only those that run for so long; v2: pattern of transactional ids.
//
// Transactions are not served, so there are none; states that Kafka does not know are named all the same, and a pattern
// that is none is refused.

#include <algorithm>

#include "broker/groups/topic_regex.h"
#include "broker/handlers/registry.h"
#include "protocol/messages/66_list_transactions.h"

namespace partita::handlers {
namespace {

constexpr std::string_view kTransactionStates[] = {"Empty",          "Ongoing",       "PrepareCommit", "PrepareAbort",
                                                   "CompleteCommit", "CompleteAbort", "Dead",          "PrepareEpochFence"};

}  // namespace

void list_transactions(runtime::RequestContext& context) {
    const ListTransactionsRequest* request = context.decode<ListTransactionsRequest>();
    if (request == nullptr) {
        return;
    }
    ArenaVector<std::string_view> unknown(context.arena());
    for (const std::string_view state : request->state_filters) {
        if (std::ranges::find(kTransactionStates, state) == std::end(kTransactionStates)) {
            unknown.push_back(state);
        }
    }
    ListTransactionsResponse response;
    if (const auto pattern = request->transactional_id_pattern; pattern && groups::regex_complaint(*pattern)) {
        response.error_code = ErrorCode::invalid_regular_expression;
        context.reply(response);
        return;
    }
    response.unknown_state_filters = unknown;
    context.reply(response);
}

}  // namespace partita::handlers
