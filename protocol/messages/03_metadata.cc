#include "protocol/messages/03_metadata.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(MetadataRequest::Topic,
    FIELD(topic_id, "TopicId", since(10), ignorable),
    FIELD(name, "Name", nullable(since(10))))

PARTITA_MESSAGE(MetadataRequest, versions(0, 13), flexible_since(9),
    FIELD(topics, "Topics", nullable(since(1))),
    FIELD(allow_auto_topic_creation, "AllowAutoTopicCreation", since(4)),
    FIELD(include_cluster_authorized_operations, "IncludeClusterAuthorizedOperations", versions(8, 10)),
    FIELD(include_topic_authorized_operations, "IncludeTopicAuthorizedOperations", since(8)))

PARTITA_STRUCT(MetadataResponse::Broker,
    FIELD(node_id, "NodeId"),
    FIELD(host, "Host"),
    FIELD(port, "Port"),
    FIELD(rack, "Rack", since(1), nullable(), ignorable))

PARTITA_STRUCT(MetadataResponse::Partition,
    FIELD(error_code, "ErrorCode"),
    FIELD(partition_index, "PartitionIndex"),
    FIELD(leader_id, "LeaderId"),
    FIELD(leader_epoch, "LeaderEpoch", since(7), ignorable),
    FIELD(replica_nodes, "ReplicaNodes"),
    FIELD(isr_nodes, "IsrNodes"),
    FIELD(offline_replicas, "OfflineReplicas", since(5), ignorable))

PARTITA_STRUCT(MetadataResponse::Topic,
    FIELD(error_code, "ErrorCode"),
    FIELD(name, "Name", nullable(since(12))),
    FIELD(topic_id, "TopicId", since(10), ignorable),
    FIELD(is_internal, "IsInternal", since(1), ignorable),
    FIELD(partitions, "Partitions"),
    FIELD(topic_authorized_operations, "TopicAuthorizedOperations", since(8)))

PARTITA_MESSAGE(MetadataResponse, versions(0, 13), flexible_since(9),
    FIELD(throttle_time_ms, "ThrottleTimeMs", since(3), ignorable),
    FIELD(brokers, "Brokers"),
    FIELD(cluster_id, "ClusterId", since(2), nullable(), ignorable),
    FIELD(controller_id, "ControllerId", since(1), ignorable),
    FIELD(topics, "Topics"),
    FIELD(cluster_authorized_operations, "ClusterAuthorizedOperations", versions(8, 10)),
    FIELD(error_code, "ErrorCode", since(13), ignorable))

PARTITA_API(metadata, Metadata)
// clang-format on

}  // namespace partita
