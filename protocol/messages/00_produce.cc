#include "protocol/messages/00_produce.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(ProduceRequest::PartitionProduceData,
    FIELD(index, "Index"),
    FIELD(records, "Records", nullable()))

PARTITA_STRUCT(ProduceRequest::TopicProduceData,
    FIELD(name, "Name", versions(3, 12), ignorable),
    FIELD(topic_id, "TopicId", since(13), ignorable),
    FIELD(partition_data, "PartitionData"))

PARTITA_MESSAGE(ProduceRequest, versions(3, 13), flexible_since(9),
    FIELD(transactional_id, "TransactionalId", nullable()),
    FIELD(acks, "Acks"),
    FIELD(timeout_ms, "TimeoutMs"),
    FIELD(topic_data, "TopicData"))

PARTITA_STRUCT(ProduceResponse::BatchIndexAndErrorMessage,
    FIELD(batch_index, "BatchIndex", since(8)),
    FIELD(batch_index_error_message, "BatchIndexErrorMessage", since(8), nullable()))

PARTITA_STRUCT(ProduceResponse::LeaderIdAndEpoch,
    FIELD(leader_id, "LeaderId", since(10)),
    FIELD(leader_epoch, "LeaderEpoch", since(10)))

PARTITA_STRUCT(ProduceResponse::PartitionProduceResponse,
    FIELD(index, "Index"),
    FIELD(error_code, "ErrorCode"),
    FIELD(base_offset, "BaseOffset"),
    FIELD(log_append_time_ms, "LogAppendTimeMs", ignorable),
    FIELD(log_start_offset, "LogStartOffset", since(5), ignorable),
    FIELD(record_errors, "RecordErrors", since(8), ignorable),
    FIELD(error_message, "ErrorMessage", since(8), nullable(), ignorable),
    FIELD(current_leader, "CurrentLeader", since(10), tagged(0, since(10))))

PARTITA_STRUCT(ProduceResponse::TopicProduceResponse,
    FIELD(name, "Name", versions(3, 12), ignorable),
    FIELD(topic_id, "TopicId", since(13), ignorable),
    FIELD(partition_responses, "PartitionResponses"))

PARTITA_STRUCT(ProduceResponse::NodeEndpoint,
    FIELD(node_id, "NodeId", since(10)),
    FIELD(host, "Host", since(10)),
    FIELD(port, "Port", since(10)),
    FIELD(rack, "Rack", since(10), nullable()))

PARTITA_MESSAGE(ProduceResponse, versions(3, 13), flexible_since(9),
    FIELD(responses, "Responses"),
    FIELD(throttle_time_ms, "ThrottleTimeMs", ignorable),
    FIELD(node_endpoints, "NodeEndpoints", since(10), tagged(0, since(10))))

PARTITA_API(produce, Produce)
// clang-format on

}  // namespace partita
