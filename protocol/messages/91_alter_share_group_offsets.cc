#include "protocol/messages/91_alter_share_group_offsets.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(AlterShareGroupOffsetsRequest::Partition,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(start_offset, "StartOffset"))

PARTITA_STRUCT(AlterShareGroupOffsetsRequest::Topic,
    FIELD(topic_name, "TopicName"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(AlterShareGroupOffsetsRequest, versions(0, 0), flexible_since(0),
    FIELD(group_id, "GroupId"),
    FIELD(topics, "Topics"))

PARTITA_STRUCT(AlterShareGroupOffsetsResponse::Partition,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()))

PARTITA_STRUCT(AlterShareGroupOffsetsResponse::Topic,
    FIELD(topic_name, "TopicName"),
    FIELD(topic_id, "TopicId"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(AlterShareGroupOffsetsResponse, versions(0, 0), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(responses, "Responses"))

PARTITA_API(alter_share_group_offsets, AlterShareGroupOffsets)
// clang-format on

}  // namespace partita
