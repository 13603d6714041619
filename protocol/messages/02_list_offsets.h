#pragma once

#include "protocol/schema.h"

namespace partita {

/// ListOffsets (key 2): versions 1 to 11, flexible from 6.
///
///   v2: The request gains IsolationLevel; the response gains ThrottleTimeMs.
///   v3: No change of layout.
///   v4: The request gains CurrentLeaderEpoch; the response gains LeaderEpoch.
///   v5: No change of layout.
///   v6: Flexible encoding.
///   v7 to v9: No change of layout.
///   v10: The request gains TimeoutMs.
///   v11: No change of layout.
struct ListOffsetsRequest {
    struct ListOffsetsPartition {
        std::int32_t partition_index = 0;
        std::int32_t current_leader_epoch = -1;  ///< v4 and later
        std::int64_t timestamp = 0;

        static const Schema schema;
    };

    struct ListOffsetsTopic {
        std::string_view name;
        Array<ListOffsetsPartition> partitions;

        static const Schema schema;
    };

    std::int32_t replica_id = 0;
    std::int8_t isolation_level = 0;  ///< v2 and later
    Array<ListOffsetsTopic> topics;
    std::int32_t timeout_ms = 0;  ///< v10 and later

    static const Schema schema;
};

struct ListOffsetsResponse {
    struct ListOffsetsPartitionResponse {
        std::int32_t partition_index = 0;
        ErrorCode error_code = ErrorCode::none;
        std::int64_t timestamp = -1;
        std::int64_t offset = -1;
        std::int32_t leader_epoch = -1;  ///< v4 and later

        static const Schema schema;
    };

    struct ListOffsetsTopicResponse {
        std::string_view name;
        Array<ListOffsetsPartitionResponse> partitions;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;  ///< v2 and later
    Array<ListOffsetsTopicResponse> topics;

    static const Schema schema;
};

}  // namespace partita
