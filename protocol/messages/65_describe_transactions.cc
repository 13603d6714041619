#include "protocol/messages/65_describe_transactions.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(DescribeTransactionsRequest, versions(0, 0), flexible_since(0),
    FIELD(transactional_ids, "TransactionalIds"))

PARTITA_STRUCT(DescribeTransactionsResponse::TopicData,
    FIELD(topic, "Topic"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(DescribeTransactionsResponse::TransactionState,
    FIELD(error_code, "ErrorCode"),
    FIELD(transactional_id, "TransactionalId"),
    FIELD(transaction_state, "TransactionState"),
    FIELD(transaction_timeout_ms, "TransactionTimeoutMs"),
    FIELD(transaction_start_time_ms, "TransactionStartTimeMs"),
    FIELD(producer_id, "ProducerId"),
    FIELD(producer_epoch, "ProducerEpoch"),
    FIELD(topics, "Topics"))

PARTITA_MESSAGE(DescribeTransactionsResponse, versions(0, 0), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(transaction_states, "TransactionStates"))

PARTITA_API(describe_transactions, DescribeTransactions)
// clang-format on

}  // namespace partita
