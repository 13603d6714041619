#include "protocol/messages/46_list_partition_reassignments.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(ListPartitionReassignmentsRequest::ListPartitionReassignmentsTopics,
    FIELD(name, "Name"),
    FIELD(partition_indexes, "PartitionIndexes"))

PARTITA_MESSAGE(ListPartitionReassignmentsRequest, versions(0, 0), flexible_since(0),
    FIELD(timeout_ms, "TimeoutMs"),
    FIELD(topics, "Topics", nullable()))

PARTITA_STRUCT(ListPartitionReassignmentsResponse::OngoingPartitionReassignment,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(replicas, "Replicas"),
    FIELD(adding_replicas, "AddingReplicas"),
    FIELD(removing_replicas, "RemovingReplicas"))

PARTITA_STRUCT(ListPartitionReassignmentsResponse::OngoingTopicReassignment,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(ListPartitionReassignmentsResponse, versions(0, 0), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(topics, "Topics"))

PARTITA_API(list_partition_reassignments, ListPartitionReassignments)
// clang-format on

}  // namespace partita
