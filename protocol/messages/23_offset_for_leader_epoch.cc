#include "protocol/messages/23_offset_for_leader_epoch.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(OffsetForLeaderEpochRequest::OffsetForLeaderPartition,
    FIELD(partition, "Partition"),
    FIELD(current_leader_epoch, "CurrentLeaderEpoch", ignorable),
    FIELD(leader_epoch, "LeaderEpoch"))

PARTITA_STRUCT(OffsetForLeaderEpochRequest::OffsetForLeaderTopic,
    FIELD(topic, "Topic"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(OffsetForLeaderEpochRequest, versions(2, 4), flexible_since(4),
    FIELD(replica_id, "ReplicaId", since(3), ignorable),
    FIELD(topics, "Topics"))

PARTITA_STRUCT(OffsetForLeaderEpochResponse::EpochEndOffset,
    FIELD(error_code, "ErrorCode"),
    FIELD(partition, "Partition"),
    FIELD(leader_epoch, "LeaderEpoch", ignorable),
    FIELD(end_offset, "EndOffset"))

PARTITA_STRUCT(OffsetForLeaderEpochResponse::OffsetForLeaderTopicResult,
    FIELD(topic, "Topic"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(OffsetForLeaderEpochResponse, versions(2, 4), flexible_since(4),
    FIELD(throttle_time_ms, "ThrottleTimeMs", ignorable),
    FIELD(topics, "Topics"))

PARTITA_API(offset_for_leader_epoch, OffsetForLeaderEpoch)
// clang-format on

}  // namespace partita
