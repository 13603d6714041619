#include "protocol/messages/09_offset_fetch.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(OffsetFetchRequest::Topic,
    FIELD(name, "Name", versions(1, 7)),
    FIELD(partition_indexes, "PartitionIndexes", versions(1, 7)))

PARTITA_STRUCT(OffsetFetchRequest::Topics,
    FIELD(name, "Name", versions(8, 9), ignorable),
    FIELD(topic_id, "TopicId", since(10), ignorable),
    FIELD(partition_indexes, "PartitionIndexes", since(8)))

PARTITA_STRUCT(OffsetFetchRequest::Group,
    FIELD(group_id, "GroupId", since(8)),
    FIELD(member_id, "MemberId", since(9), nullable(), ignorable),
    FIELD(member_epoch, "MemberEpoch", since(9), ignorable),
    FIELD(topics, "Topics", since(8), nullable()))

PARTITA_MESSAGE(OffsetFetchRequest, versions(1, 10), flexible_since(6),
    FIELD(group_id, "GroupId", versions(1, 7)),
    FIELD(topics, "Topics", versions(1, 7), nullable(versions(2, 7))),
    FIELD(groups, "Groups", since(8)),
    FIELD(require_stable, "RequireStable", since(7)))

PARTITA_STRUCT(OffsetFetchResponse::Partition,
    FIELD(partition_index, "PartitionIndex", versions(1, 7)),
    FIELD(committed_offset, "CommittedOffset", versions(1, 7)),
    FIELD(committed_leader_epoch, "CommittedLeaderEpoch", versions(5, 7), ignorable),
    FIELD(metadata, "Metadata", versions(1, 7), nullable()),
    FIELD(error_code, "ErrorCode", versions(1, 7)))

PARTITA_STRUCT(OffsetFetchResponse::Topic,
    FIELD(name, "Name", versions(1, 7)),
    FIELD(partitions, "Partitions", versions(1, 7)))

PARTITA_STRUCT(OffsetFetchResponse::Partitions,
    FIELD(partition_index, "PartitionIndex", since(8)),
    FIELD(committed_offset, "CommittedOffset", since(8)),
    FIELD(committed_leader_epoch, "CommittedLeaderEpoch", since(8), ignorable),
    FIELD(metadata, "Metadata", since(8), nullable()),
    FIELD(error_code, "ErrorCode", since(8)))

PARTITA_STRUCT(OffsetFetchResponse::Topics,
    FIELD(name, "Name", versions(8, 9), ignorable),
    FIELD(topic_id, "TopicId", since(10), ignorable),
    FIELD(partitions, "Partitions", since(8)))

PARTITA_STRUCT(OffsetFetchResponse::Group,
    FIELD(group_id, "GroupId", since(8)),
    FIELD(topics, "Topics", since(8)),
    FIELD(error_code, "ErrorCode", since(8)))

PARTITA_MESSAGE(OffsetFetchResponse, versions(1, 10), flexible_since(6),
    FIELD(throttle_time_ms, "ThrottleTimeMs", since(3), ignorable),
    FIELD(topics, "Topics", versions(1, 7)),
    FIELD(error_code, "ErrorCode", versions(2, 7), ignorable),
    FIELD(groups, "Groups", since(8)))

PARTITA_API(offset_fetch, OffsetFetch)
// clang-format on

}  // namespace partita
