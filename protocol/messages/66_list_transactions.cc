#include "protocol/messages/66_list_transactions.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(ListTransactionsRequest, versions(0, 2), flexible_since(0),
    FIELD(state_filters, "StateFilters"),
    FIELD(producer_id_filters, "ProducerIdFilters"),
    FIELD(duration_filter, "DurationFilter", since(1)),
    FIELD(transactional_id_pattern, "TransactionalIdPattern", since(2), nullable()))

PARTITA_STRUCT(ListTransactionsResponse::TransactionState,
    FIELD(transactional_id, "TransactionalId"),
    FIELD(producer_id, "ProducerId"),
    FIELD(transaction_state, "TransactionState"))

PARTITA_MESSAGE(ListTransactionsResponse, versions(0, 2), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(unknown_state_filters, "UnknownStateFilters"),
    FIELD(transaction_states, "TransactionStates"))

PARTITA_API(list_transactions, ListTransactions)
// clang-format on

}  // namespace partita
