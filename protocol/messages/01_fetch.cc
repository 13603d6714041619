#include "protocol/messages/01_fetch.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(FetchRequest::ReplicaState,
    FIELD(replica_id, "ReplicaId", since(15)),
    FIELD(replica_epoch, "ReplicaEpoch", since(15)))

PARTITA_STRUCT(FetchRequest::FetchPartition,
    FIELD(partition, "Partition"),
    FIELD(current_leader_epoch, "CurrentLeaderEpoch", since(9), ignorable),
    FIELD(fetch_offset, "FetchOffset"),
    FIELD(last_fetched_epoch, "LastFetchedEpoch", since(12)),
    FIELD(log_start_offset, "LogStartOffset", since(5), ignorable),
    FIELD(partition_max_bytes, "PartitionMaxBytes"),
    FIELD(replica_directory_id, "ReplicaDirectoryId", since(17), tagged(0, since(17)), ignorable),
    FIELD(high_watermark, "HighWatermark", since(18), tagged(1, since(18)), ignorable))

PARTITA_STRUCT(FetchRequest::FetchTopic,
    FIELD(topic, "Topic", versions(4, 12), ignorable),
    FIELD(topic_id, "TopicId", since(13), ignorable),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(FetchRequest::ForgottenTopic,
    FIELD(topic, "Topic", versions(7, 12), ignorable),
    FIELD(topic_id, "TopicId", since(13), ignorable),
    FIELD(partitions, "Partitions", since(7)))

PARTITA_MESSAGE(FetchRequest, versions(4, 18), flexible_since(12),
    FIELD(cluster_id, "ClusterId", since(12), nullable(), tagged(0, since(12)), ignorable),
    FIELD(replica_id, "ReplicaId", versions(4, 14)),
    FIELD(replica_state, "ReplicaState", since(15), tagged(1, since(15))),
    FIELD(max_wait_ms, "MaxWaitMs"),
    FIELD(min_bytes, "MinBytes"),
    FIELD(max_bytes, "MaxBytes", ignorable),
    FIELD(isolation_level, "IsolationLevel", ignorable),
    FIELD(session_id, "SessionId", since(7), ignorable),
    FIELD(session_epoch, "SessionEpoch", since(7), ignorable),
    FIELD(topics, "Topics"),
    FIELD(forgotten_topics_data, "ForgottenTopicsData", since(7)),
    FIELD(rack_id, "RackId", since(11), ignorable))

PARTITA_STRUCT(FetchResponse::EpochEndOffset,
    FIELD(epoch, "Epoch", since(12)),
    FIELD(end_offset, "EndOffset", since(12)))

PARTITA_STRUCT(FetchResponse::LeaderIdAndEpoch,
    FIELD(leader_id, "LeaderId", since(12)),
    FIELD(leader_epoch, "LeaderEpoch", since(12)))

PARTITA_STRUCT(FetchResponse::SnapshotId,
    FIELD(end_offset, "EndOffset"),
    FIELD(epoch, "Epoch"))

PARTITA_STRUCT(FetchResponse::AbortedTransaction,
    FIELD(producer_id, "ProducerId"),
    FIELD(first_offset, "FirstOffset"))

PARTITA_STRUCT(FetchResponse::PartitionData,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(error_code, "ErrorCode"),
    FIELD(high_watermark, "HighWatermark"),
    FIELD(last_stable_offset, "LastStableOffset", ignorable),
    FIELD(log_start_offset, "LogStartOffset", since(5), ignorable),
    FIELD(diverging_epoch, "DivergingEpoch", since(12), tagged(0, since(12))),
    FIELD(current_leader, "CurrentLeader", since(12), tagged(1, since(12))),
    FIELD(snapshot_id, "SnapshotId", since(12), tagged(2, since(12))),
    FIELD(aborted_transactions, "AbortedTransactions", nullable(), ignorable),
    FIELD(preferred_read_replica, "PreferredReadReplica", since(11)),
    FIELD(records, "Records", nullable()))

PARTITA_STRUCT(FetchResponse::FetchableTopicResponse,
    FIELD(topic, "Topic", versions(4, 12), ignorable),
    FIELD(topic_id, "TopicId", since(13), ignorable),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(FetchResponse::NodeEndpoint,
    FIELD(node_id, "NodeId", since(16)),
    FIELD(host, "Host", since(16)),
    FIELD(port, "Port", since(16)),
    FIELD(rack, "Rack", since(16), nullable()))

PARTITA_MESSAGE(FetchResponse, versions(4, 18), flexible_since(12),
    FIELD(throttle_time_ms, "ThrottleTimeMs", ignorable),
    FIELD(error_code, "ErrorCode", since(7), ignorable),
    FIELD(session_id, "SessionId", since(7)),
    FIELD(responses, "Responses"),
    FIELD(node_endpoints, "NodeEndpoints", since(16), tagged(0, since(16))))

PARTITA_API(fetch, Fetch)
// clang-format on

}  // namespace partita
