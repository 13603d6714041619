#include "protocol/messages/47_offset_delete.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(OffsetDeleteRequest::Partition,
    FIELD(partition_index, "PartitionIndex"))

PARTITA_STRUCT(OffsetDeleteRequest::Topic,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(OffsetDeleteRequest, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"),
    FIELD(topics, "Topics"))

PARTITA_STRUCT(OffsetDeleteResponse::Partition,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(error_code, "ErrorCode"))

PARTITA_STRUCT(OffsetDeleteResponse::Topic,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(OffsetDeleteResponse, versions(0, 0), never_flexible,
    FIELD(error_code, "ErrorCode"),
    FIELD(throttle_time_ms, "ThrottleTimeMs", ignorable),
    FIELD(topics, "Topics"))

PARTITA_API(offset_delete, OffsetDelete)
// clang-format on

}  // namespace partita
