#include "protocol/messages/34_alter_replica_log_dirs.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(AlterReplicaLogDirsRequest::AlterReplicaLogDirTopic,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(AlterReplicaLogDirsRequest::AlterReplicaLogDir,
    FIELD(path, "Path"),
    FIELD(topics, "Topics"))

PARTITA_MESSAGE(AlterReplicaLogDirsRequest, versions(1, 2), flexible_since(2),
    FIELD(dirs, "Dirs"))

PARTITA_STRUCT(AlterReplicaLogDirsResponse::AlterReplicaLogDirPartitionResult,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(error_code, "ErrorCode"))

PARTITA_STRUCT(AlterReplicaLogDirsResponse::AlterReplicaLogDirTopicResult,
    FIELD(topic_name, "TopicName"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(AlterReplicaLogDirsResponse, versions(1, 2), flexible_since(2),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(results, "Results"))

PARTITA_API(alter_replica_log_dirs, AlterReplicaLogDirs)
// clang-format on

}  // namespace partita
