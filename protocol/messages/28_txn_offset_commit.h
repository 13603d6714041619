#pragma once

#include "protocol/schema.h"

namespace partita {

/// TxnOffsetCommit (key 28): versions 0 to 5, flexible from 3.
///
///   v1: No change of layout.
///   v2: The request gains CommittedLeaderEpoch.
///   v3: Flexible encoding; the request gains GenerationId, MemberId, GroupInstanceId.
///   v4 to v5: No change of layout.
struct TxnOffsetCommitRequest {
    struct Partition {
        std::int32_t partition_index = 0;
        std::int64_t committed_offset = 0;
        std::int32_t committed_leader_epoch = -1;                 ///< v2 and later
        std::optional<std::string_view> committed_metadata = "";  ///< may be null

        static const Schema schema;
    };

    struct Topic {
        std::string_view name;
        Array<Partition> partitions;

        static const Schema schema;
    };

    std::string_view transactional_id;
    std::string_view group_id;
    std::int64_t producer_id = 0;
    std::int16_t producer_epoch = 0;
    std::int32_t generation_id = -1;                    ///< v3 and later
    std::string_view member_id;                         ///< v3 and later
    std::optional<std::string_view> group_instance_id;  ///< v3 and later, may be null
    Array<Topic> topics;

    static const Schema schema;
};

struct TxnOffsetCommitResponse {
    struct Partition {
        std::int32_t partition_index = 0;
        ErrorCode error_code = ErrorCode::none;

        static const Schema schema;
    };

    struct Topic {
        std::string_view name;
        Array<Partition> partitions;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<Topic> topics;

    static const Schema schema;
};

}  // namespace partita
