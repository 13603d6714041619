#pragma once

#include "protocol/schema.h"

namespace partita {

/// AlterReplicaLogDirs (key 34): versions 1 to 2, flexible from 2.
///
///   v2: Flexible encoding.
struct AlterReplicaLogDirsRequest {
    struct AlterReplicaLogDirTopic {
        std::string_view name;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    struct AlterReplicaLogDir {
        std::string_view path;
        Array<AlterReplicaLogDirTopic> topics;

        static const Schema schema;
    };

    Array<AlterReplicaLogDir> dirs;

    static const Schema schema;
};

struct AlterReplicaLogDirsResponse {
    struct AlterReplicaLogDirPartitionResult {
        std::int32_t partition_index = 0;
        ErrorCode error_code = ErrorCode::none;

        static const Schema schema;
    };

    struct AlterReplicaLogDirTopicResult {
        std::string_view topic_name;
        Array<AlterReplicaLogDirPartitionResult> partitions;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<AlterReplicaLogDirTopicResult> results;

    static const Schema schema;
};

}  // namespace partita
