#include "protocol/messages/55_describe_quorum.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(DescribeQuorumRequest::PartitionData,
    FIELD(partition_index, "PartitionIndex"))

PARTITA_STRUCT(DescribeQuorumRequest::TopicData,
    FIELD(topic_name, "TopicName"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(DescribeQuorumRequest, versions(0, 2), flexible_since(0),
    FIELD(topics, "Topics"))

PARTITA_STRUCT(DescribeQuorumResponse::ReplicaState,
    FIELD(replica_id, "ReplicaId"),
    FIELD(replica_directory_id, "ReplicaDirectoryId", since(2)),
    FIELD(log_end_offset, "LogEndOffset"),
    FIELD(last_fetch_timestamp, "LastFetchTimestamp", since(1), ignorable),
    FIELD(last_caught_up_timestamp, "LastCaughtUpTimestamp", since(1), ignorable))

PARTITA_STRUCT(DescribeQuorumResponse::PartitionData,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", since(2), nullable(), ignorable),
    FIELD(leader_id, "LeaderId"),
    FIELD(leader_epoch, "LeaderEpoch"),
    FIELD(high_watermark, "HighWatermark"),
    FIELD(current_voters, "CurrentVoters"),
    FIELD(observers, "Observers"))

PARTITA_STRUCT(DescribeQuorumResponse::TopicData,
    FIELD(topic_name, "TopicName"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(DescribeQuorumResponse::Listener,
    FIELD(name, "Name", since(2)),
    FIELD(host, "Host", since(2)),
    FIELD(port, "Port", since(2)))

PARTITA_STRUCT(DescribeQuorumResponse::Node,
    FIELD(node_id, "NodeId", since(2)),
    FIELD(listeners, "Listeners", since(2)))

PARTITA_MESSAGE(DescribeQuorumResponse, versions(0, 2), flexible_since(0),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", since(2), nullable(), ignorable),
    FIELD(topics, "Topics"),
    FIELD(nodes, "Nodes", since(2)))

PARTITA_API(describe_quorum, DescribeQuorum)
// clang-format on

}  // namespace partita
