#include "protocol/messages/35_describe_log_dirs.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(DescribeLogDirsRequest::DescribableLogDirTopic,
    FIELD(topic, "Topic"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(DescribeLogDirsRequest, versions(1, 5), flexible_since(2),
    FIELD(topics, "Topics", nullable()))

PARTITA_STRUCT(DescribeLogDirsResponse::DescribeLogDirsPartition,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(partition_size, "PartitionSize"),
    FIELD(offset_lag, "OffsetLag"),
    FIELD(is_future_key, "IsFutureKey"))

PARTITA_STRUCT(DescribeLogDirsResponse::DescribeLogDirsTopic,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(DescribeLogDirsResponse::DescribeLogDirsResult,
    FIELD(error_code, "ErrorCode"),
    FIELD(log_dir, "LogDir"),
    FIELD(topics, "Topics"),
    FIELD(total_bytes, "TotalBytes", since(4), ignorable),
    FIELD(usable_bytes, "UsableBytes", since(4), ignorable),
    FIELD(is_cordoned, "IsCordoned", since(5), ignorable))

PARTITA_MESSAGE(DescribeLogDirsResponse, versions(1, 5), flexible_since(2),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode", since(3), ignorable),
    FIELD(results, "Results"))

PARTITA_API(describe_log_dirs, DescribeLogDirs)
// clang-format on

}  // namespace partita
