#include "protocol/messages/75_describe_topic_partitions.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(DescribeTopicPartitionsRequest::TopicRequest,
    FIELD(name, "Name"))

PARTITA_STRUCT(DescribeTopicPartitionsRequest::Cursor,
    FIELD(topic_name, "TopicName"),
    FIELD(partition_index, "PartitionIndex"))

PARTITA_MESSAGE(DescribeTopicPartitionsRequest, versions(0, 0), flexible_since(0),
    FIELD(topics, "Topics"),
    FIELD(response_partition_limit, "ResponsePartitionLimit"),
    FIELD(cursor, "Cursor", nullable()))

PARTITA_STRUCT(DescribeTopicPartitionsResponse::Partition,
    FIELD(error_code, "ErrorCode"),
    FIELD(partition_index, "PartitionIndex"),
    FIELD(leader_id, "LeaderId"),
    FIELD(leader_epoch, "LeaderEpoch", ignorable),
    FIELD(replica_nodes, "ReplicaNodes"),
    FIELD(isr_nodes, "IsrNodes"),
    FIELD(eligible_leader_replicas, "EligibleLeaderReplicas", nullable()),
    FIELD(last_known_elr, "LastKnownElr", nullable()),
    FIELD(offline_replicas, "OfflineReplicas", ignorable))

PARTITA_STRUCT(DescribeTopicPartitionsResponse::Topic,
    FIELD(error_code, "ErrorCode"),
    FIELD(name, "Name", nullable()),
    FIELD(topic_id, "TopicId", ignorable),
    FIELD(is_internal, "IsInternal", ignorable),
    FIELD(partitions, "Partitions"),
    FIELD(topic_authorized_operations, "TopicAuthorizedOperations"))

PARTITA_STRUCT(DescribeTopicPartitionsResponse::Cursor,
    FIELD(topic_name, "TopicName"),
    FIELD(partition_index, "PartitionIndex"))

PARTITA_MESSAGE(DescribeTopicPartitionsResponse, versions(0, 0), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs", ignorable),
    FIELD(topics, "Topics"),
    FIELD(next_cursor, "NextCursor", nullable()))

PARTITA_API(describe_topic_partitions, DescribeTopicPartitions)
// clang-format on

}  // namespace partita
