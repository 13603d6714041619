#include "protocol/messages/21_delete_records.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(DeleteRecordsRequest::DeleteRecordsPartition,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(offset, "Offset"))

PARTITA_STRUCT(DeleteRecordsRequest::DeleteRecordsTopic,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(DeleteRecordsRequest, versions(0, 2), flexible_since(2),
    FIELD(topics, "Topics"),
    FIELD(timeout_ms, "TimeoutMs"))

PARTITA_STRUCT(DeleteRecordsResponse::DeleteRecordsPartitionResult,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(low_watermark, "LowWatermark"),
    FIELD(error_code, "ErrorCode"))

PARTITA_STRUCT(DeleteRecordsResponse::DeleteRecordsTopicResult,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(DeleteRecordsResponse, versions(0, 2), flexible_since(2),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(topics, "Topics"))

PARTITA_API(delete_records, DeleteRecords)
// clang-format on

}  // namespace partita
