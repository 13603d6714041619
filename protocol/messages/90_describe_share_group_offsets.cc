#include "protocol/messages/90_describe_share_group_offsets.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(DescribeShareGroupOffsetsRequest::Topic,
    FIELD(topic_name, "TopicName"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(DescribeShareGroupOffsetsRequest::Group,
    FIELD(group_id, "GroupId"),
    FIELD(topics, "Topics", nullable()))

PARTITA_MESSAGE(DescribeShareGroupOffsetsRequest, versions(0, 1), flexible_since(0),
    FIELD(groups, "Groups"))

PARTITA_STRUCT(DescribeShareGroupOffsetsResponse::Partition,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(start_offset, "StartOffset"),
    FIELD(leader_epoch, "LeaderEpoch"),
    FIELD(lag, "Lag", since(1), ignorable),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()))

PARTITA_STRUCT(DescribeShareGroupOffsetsResponse::Topic,
    FIELD(topic_name, "TopicName"),
    FIELD(topic_id, "TopicId"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(DescribeShareGroupOffsetsResponse::Group,
    FIELD(group_id, "GroupId"),
    FIELD(topics, "Topics"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()))

PARTITA_MESSAGE(DescribeShareGroupOffsetsResponse, versions(0, 1), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(groups, "Groups"))

PARTITA_API(describe_share_group_offsets, DescribeShareGroupOffsets)
// clang-format on

}  // namespace partita
