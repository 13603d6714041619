#include "protocol/messages/24_add_partitions_to_txn.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(AddPartitionsToTxnRequest::AddPartitionsToTxnTopic,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(AddPartitionsToTxnRequest::AddPartitionsToTxnTransaction,
    FIELD(transactional_id, "TransactionalId", since(4)),
    FIELD(producer_id, "ProducerId", since(4)),
    FIELD(producer_epoch, "ProducerEpoch", since(4)),
    FIELD(verify_only, "VerifyOnly", since(4)),
    FIELD(topics, "Topics", since(4)))

PARTITA_MESSAGE(AddPartitionsToTxnRequest, versions(0, 5), flexible_since(3),
    FIELD(transactions, "Transactions", since(4)),
    FIELD(v3_and_below_transactional_id, "V3AndBelowTransactionalId", versions(0, 3)),
    FIELD(v3_and_below_producer_id, "V3AndBelowProducerId", versions(0, 3)),
    FIELD(v3_and_below_producer_epoch, "V3AndBelowProducerEpoch", versions(0, 3)),
    FIELD(v3_and_below_topics, "V3AndBelowTopics", versions(0, 3)))

PARTITA_STRUCT(AddPartitionsToTxnResponse::AddPartitionsToTxnPartitionResult,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(partition_error_code, "PartitionErrorCode"))

PARTITA_STRUCT(AddPartitionsToTxnResponse::AddPartitionsToTxnTopicResult,
    FIELD(name, "Name"),
    FIELD(results_by_partition, "ResultsByPartition"))

PARTITA_STRUCT(AddPartitionsToTxnResponse::AddPartitionsToTxnResult,
    FIELD(transactional_id, "TransactionalId", since(4)),
    FIELD(topic_results, "TopicResults", since(4)))

PARTITA_MESSAGE(AddPartitionsToTxnResponse, versions(0, 5), flexible_since(3),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode", since(4), ignorable),
    FIELD(results_by_transaction, "ResultsByTransaction", since(4)),
    FIELD(results_by_topic_v3_and_below, "ResultsByTopicV3AndBelow", versions(0, 3)))

PARTITA_API(add_partitions_to_txn, AddPartitionsToTxn)
// clang-format on

}  // namespace partita
