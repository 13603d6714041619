#include "protocol/messages/08_offset_commit.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(OffsetCommitRequest::Partition,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(committed_offset, "CommittedOffset"),
    FIELD(committed_leader_epoch, "CommittedLeaderEpoch", since(6), ignorable),
    FIELD(committed_metadata, "CommittedMetadata", nullable()))

PARTITA_STRUCT(OffsetCommitRequest::Topic,
    FIELD(name, "Name", versions(2, 9), ignorable),
    FIELD(topic_id, "TopicId", since(10), ignorable),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(OffsetCommitRequest, versions(2, 10), flexible_since(8),
    FIELD(group_id, "GroupId"),
    FIELD(generation_id_or_member_epoch, "GenerationIdOrMemberEpoch", ignorable),
    FIELD(member_id, "MemberId", ignorable),
    FIELD(group_instance_id, "GroupInstanceId", since(7), nullable()),
    FIELD(retention_time_ms, "RetentionTimeMs", versions(2, 4), ignorable),
    FIELD(topics, "Topics"))

PARTITA_STRUCT(OffsetCommitResponse::Partition,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(error_code, "ErrorCode"))

PARTITA_STRUCT(OffsetCommitResponse::Topic,
    FIELD(name, "Name", versions(2, 9), ignorable),
    FIELD(topic_id, "TopicId", since(10), ignorable),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(OffsetCommitResponse, versions(2, 10), flexible_since(8),
    FIELD(throttle_time_ms, "ThrottleTimeMs", since(3), ignorable),
    FIELD(topics, "Topics"))

PARTITA_API(offset_commit, OffsetCommit)
// clang-format on

}  // namespace partita
