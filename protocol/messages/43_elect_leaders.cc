#include "protocol/messages/43_elect_leaders.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(ElectLeadersRequest::TopicPartitions,
    FIELD(topic, "Topic"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(ElectLeadersRequest, versions(0, 2), flexible_since(2),
    FIELD(election_type, "ElectionType", since(1)),
    FIELD(topic_partitions, "TopicPartitions", nullable()),
    FIELD(timeout_ms, "TimeoutMs"))

PARTITA_STRUCT(ElectLeadersResponse::PartitionResult,
    FIELD(partition_id, "PartitionId"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()))

PARTITA_STRUCT(ElectLeadersResponse::ReplicaElectionResult,
    FIELD(topic, "Topic"),
    FIELD(partition_result, "PartitionResult"))

PARTITA_MESSAGE(ElectLeadersResponse, versions(0, 2), flexible_since(2),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode", since(1)),
    FIELD(replica_election_results, "ReplicaElectionResults"))

PARTITA_API(elect_leaders, ElectLeaders)
// clang-format on

}  // namespace partita
