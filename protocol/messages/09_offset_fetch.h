#pragma once

#include "protocol/schema.h"

namespace partita {

/// OffsetFetch (key 9): versions 1 to 10, flexible from 6.
///
///   v2: The request lets Topics be null; the response gains ErrorCode.
///   v3: The response gains ThrottleTimeMs.
///   v4: No change of layout.
///   v5: The response gains CommittedLeaderEpoch.
///   v6: Flexible encoding.
///   v7: The request gains RequireStable.
///   v8: The request gains Groups and loses GroupId, Topics; the response gains Groups and loses Topics,
///     ErrorCode.
///   v9: The request gains MemberId, MemberEpoch.
///   v10: The request gains TopicId and loses Name; the response gains TopicId and loses Name.
struct OffsetFetchRequest {
    struct Topic {
        std::string_view name;                  ///< up to v7
        Array<std::int32_t> partition_indexes;  ///< up to v7

        static const Schema schema;
    };

    struct Topics {
        std::string_view name;                  ///< v8 to v9
        Uuid topic_id;                          ///< v10
        Array<std::int32_t> partition_indexes;  ///< v8 and later

        static const Schema schema;
    };

    struct Group {
        std::string_view group_id;                  ///< v8 and later
        std::optional<std::string_view> member_id;  ///< v9 and later, may be null
        std::int32_t member_epoch = -1;             ///< v9 and later
        Array<Topics> topics;                       ///< v8 and later, may be null

        static const Schema schema;
    };

    std::string_view group_id;    ///< up to v7
    Array<Topic> topics;          ///< up to v7, may be null from v2
    Array<Group> groups;          ///< v8 and later
    bool require_stable = false;  ///< v7 and later

    static const Schema schema;
};

struct OffsetFetchResponse {
    struct Partition {
        std::int32_t partition_index = 0;               ///< up to v7
        std::int64_t committed_offset = 0;              ///< up to v7
        std::int32_t committed_leader_epoch = -1;       ///< v5 to v7
        std::optional<std::string_view> metadata = "";  ///< up to v7, may be null
        ErrorCode error_code = ErrorCode::none;         ///< up to v7

        static const Schema schema;
    };

    struct Topic {
        std::string_view name;        ///< up to v7
        Array<Partition> partitions;  ///< up to v7

        static const Schema schema;
    };

    struct Partitions {
        std::int32_t partition_index = 0;               ///< v8 and later
        std::int64_t committed_offset = 0;              ///< v8 and later
        std::int32_t committed_leader_epoch = -1;       ///< v8 and later
        std::optional<std::string_view> metadata = "";  ///< v8 and later, may be null
        ErrorCode error_code = ErrorCode::none;         ///< v8 and later

        static const Schema schema;
    };

    struct Topics {
        std::string_view name;         ///< v8 to v9
        Uuid topic_id;                 ///< v10
        Array<Partitions> partitions;  ///< v8 and later

        static const Schema schema;
    };

    struct Group {
        std::string_view group_id;               ///< v8 and later
        Array<Topics> topics;                    ///< v8 and later
        ErrorCode error_code = ErrorCode::none;  ///< v8 and later

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;       ///< v3 and later
    Array<Topic> topics;                     ///< up to v7
    ErrorCode error_code = ErrorCode::none;  ///< v2 to v7
    Array<Group> groups;                     ///< v8 and later

    static const Schema schema;
};

}  // namespace partita
