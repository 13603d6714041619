#include "protocol/messages/transaction_log_record.h"

#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(TransactionLogKey, versions(0, 0), never_flexible,
    FIELD(transactional_id, "TransactionalId"))

PARTITA_STRUCT(TransactionLogValue::PartitionsSchema,
    FIELD(topic, "Topic"),
    FIELD(partition_ids, "PartitionIds"))

PARTITA_MESSAGE(TransactionLogValue, versions(0, 1), flexible_since(1),
    FIELD(producer_id, "ProducerId"),
    FIELD(previous_producer_id, "PreviousProducerId", since(1), tagged(0, since(1))),
    FIELD(next_producer_id, "NextProducerId", since(1), tagged(1, since(1))),
    FIELD(producer_epoch, "ProducerEpoch"),
    FIELD(next_producer_epoch, "NextProducerEpoch", since(1), tagged(3, since(1))),
    FIELD(transaction_timeout_ms, "TransactionTimeoutMs"),
    FIELD(transaction_status, "TransactionStatus"),
    FIELD(transaction_partitions, "TransactionPartitions", nullable()),
    FIELD(transaction_last_update_timestamp_ms, "TransactionLastUpdateTimestampMs"),
    FIELD(transaction_start_timestamp_ms, "TransactionStartTimestampMs"),
    FIELD(client_transaction_version, "ClientTransactionVersion", since(1), tagged(2, since(1))))
// clang-format on

}  // namespace partita
