#include "protocol/messages/02_list_offsets.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(ListOffsetsRequest::ListOffsetsPartition,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(current_leader_epoch, "CurrentLeaderEpoch", since(4), ignorable),
    FIELD(timestamp, "Timestamp"))

PARTITA_STRUCT(ListOffsetsRequest::ListOffsetsTopic,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(ListOffsetsRequest, versions(1, 11), flexible_since(6),
    FIELD(replica_id, "ReplicaId"),
    FIELD(isolation_level, "IsolationLevel", since(2)),
    FIELD(topics, "Topics"),
    FIELD(timeout_ms, "TimeoutMs", since(10), ignorable))

PARTITA_STRUCT(ListOffsetsResponse::ListOffsetsPartitionResponse,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(error_code, "ErrorCode"),
    FIELD(timestamp, "Timestamp"),
    FIELD(offset, "Offset"),
    FIELD(leader_epoch, "LeaderEpoch", since(4)))

PARTITA_STRUCT(ListOffsetsResponse::ListOffsetsTopicResponse,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(ListOffsetsResponse, versions(1, 11), flexible_since(6),
    FIELD(throttle_time_ms, "ThrottleTimeMs", since(2), ignorable),
    FIELD(topics, "Topics"))

PARTITA_API(list_offsets, ListOffsets)
// clang-format on

}  // namespace partita
