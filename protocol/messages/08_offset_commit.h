#pragma once

#include "protocol/schema.h"

namespace partita {

/// OffsetCommit (key 8): versions 2 to 10, flexible from 8.
///
///   v3: The response gains ThrottleTimeMs.
///   v4: No change of layout.
///   v5: The request loses RetentionTimeMs.
///   v6: The request gains CommittedLeaderEpoch.
///   v7: The request gains GroupInstanceId.
///   v8: Flexible encoding.
///   v9: No change of layout.
///   v10: The request gains TopicId and loses Name; the response gains TopicId and loses Name.
struct OffsetCommitRequest {
    struct Partition {
        std::int32_t partition_index = 0;
        std::int64_t committed_offset = 0;
        std::int32_t committed_leader_epoch = -1;                 ///< v6 and later
        std::optional<std::string_view> committed_metadata = "";  ///< may be null

        static const Schema schema;
    };

    struct Topic {
        std::string_view name;  ///< up to v9
        Uuid topic_id;          ///< v10
        Array<Partition> partitions;

        static const Schema schema;
    };

    std::string_view group_id;
    std::int32_t generation_id_or_member_epoch = -1;
    std::string_view member_id;
    std::optional<std::string_view> group_instance_id;  ///< v7 and later, may be null
    std::int64_t retention_time_ms = -1;                ///< up to v4
    Array<Topic> topics;

    static const Schema schema;
};

struct OffsetCommitResponse {
    struct Partition {
        std::int32_t partition_index = 0;
        ErrorCode error_code = ErrorCode::none;

        static const Schema schema;
    };

    struct Topic {
        std::string_view name;  ///< up to v9
        Uuid topic_id;          ///< v10
        Array<Partition> partitions;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;  ///< v3 and later
    Array<Topic> topics;

    static const Schema schema;
};

}  // namespace partita
