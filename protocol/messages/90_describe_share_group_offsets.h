#pragma once

#include "protocol/schema.h"

namespace partita {

/// DescribeShareGroupOffsets (key 90): versions 0 to 1, always flexible.
///
///   v1: The response gains Lag.
struct DescribeShareGroupOffsetsRequest {
    struct Topic {
        std::string_view topic_name;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    struct Group {
        std::string_view group_id;
        Array<Topic> topics;  ///< may be null

        static const Schema schema;
    };

    Array<Group> groups;

    static const Schema schema;
};

struct DescribeShareGroupOffsetsResponse {
    struct Partition {
        std::int32_t partition_index = 0;
        std::int64_t start_offset = 0;
        std::int32_t leader_epoch = 0;
        std::int64_t lag = -1;  ///< v1
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message;  ///< may be null

        static const Schema schema;
    };

    struct Topic {
        std::string_view topic_name;
        Uuid topic_id;
        Array<Partition> partitions;

        static const Schema schema;
    };

    struct Group {
        std::string_view group_id;
        Array<Topic> topics;
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message;  ///< may be null

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<Group> groups;

    static const Schema schema;
};

}  // namespace partita
