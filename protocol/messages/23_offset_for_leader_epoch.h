#pragma once

#include "protocol/schema.h"

namespace partita {

/// OffsetForLeaderEpoch (key 23): versions 2 to 4, flexible from 4.
///
///   v3: The request gains ReplicaId.
///   v4: Flexible encoding.
struct OffsetForLeaderEpochRequest {
    struct OffsetForLeaderPartition {
        std::int32_t partition = 0;
        std::int32_t current_leader_epoch = -1;
        std::int32_t leader_epoch = 0;

        static const Schema schema;
    };

    struct OffsetForLeaderTopic {
        std::string_view topic;
        Array<OffsetForLeaderPartition> partitions;

        static const Schema schema;
    };

    std::int32_t replica_id = -2;  ///< v3 and later
    Array<OffsetForLeaderTopic> topics;

    static const Schema schema;
};

struct OffsetForLeaderEpochResponse {
    struct EpochEndOffset {
        ErrorCode error_code = ErrorCode::none;
        std::int32_t partition = 0;
        std::int32_t leader_epoch = -1;
        std::int64_t end_offset = -1;

        static const Schema schema;
    };

    struct OffsetForLeaderTopicResult {
        std::string_view topic;
        Array<EpochEndOffset> partitions;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<OffsetForLeaderTopicResult> topics;

    static const Schema schema;
};

}  // namespace partita
