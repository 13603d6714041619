#include "protocol/messages/45_alter_partition_reassignments.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(AlterPartitionReassignmentsRequest::ReassignablePartition,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(replicas, "Replicas", nullable()))

PARTITA_STRUCT(AlterPartitionReassignmentsRequest::ReassignableTopic,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(AlterPartitionReassignmentsRequest, versions(0, 1), flexible_since(0),
    FIELD(timeout_ms, "TimeoutMs"),
    FIELD(allow_replication_factor_change, "AllowReplicationFactorChange", since(1)),
    FIELD(topics, "Topics"))

PARTITA_STRUCT(AlterPartitionReassignmentsResponse::ReassignablePartitionResponse,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()))

PARTITA_STRUCT(AlterPartitionReassignmentsResponse::ReassignableTopicResponse,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(AlterPartitionReassignmentsResponse, versions(0, 1), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(allow_replication_factor_change, "AllowReplicationFactorChange", since(1), ignorable),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(responses, "Responses"))

PARTITA_API(alter_partition_reassignments, AlterPartitionReassignments)
// clang-format on

}  // namespace partita
