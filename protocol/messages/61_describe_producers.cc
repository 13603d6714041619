#include "protocol/messages/61_describe_producers.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(DescribeProducersRequest::TopicRequest,
    FIELD(name, "Name"),
    FIELD(partition_indexes, "PartitionIndexes"))

PARTITA_MESSAGE(DescribeProducersRequest, versions(0, 0), flexible_since(0),
    FIELD(topics, "Topics"))

PARTITA_STRUCT(DescribeProducersResponse::ProducerState,
    FIELD(producer_id, "ProducerId"),
    FIELD(producer_epoch, "ProducerEpoch"),
    FIELD(last_sequence, "LastSequence"),
    FIELD(last_timestamp, "LastTimestamp"),
    FIELD(coordinator_epoch, "CoordinatorEpoch"),
    FIELD(current_txn_start_offset, "CurrentTxnStartOffset"))

PARTITA_STRUCT(DescribeProducersResponse::PartitionResponse,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(active_producers, "ActiveProducers"))

PARTITA_STRUCT(DescribeProducersResponse::TopicResponse,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(DescribeProducersResponse, versions(0, 0), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(topics, "Topics"))

PARTITA_API(describe_producers, DescribeProducers)
// clang-format on

}  // namespace partita
