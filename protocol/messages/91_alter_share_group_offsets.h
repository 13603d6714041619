#pragma once

#include "protocol/schema.h"

namespace partita {

/// AlterShareGroupOffsets (key 91): version 0, always flexible.
struct AlterShareGroupOffsetsRequest {
    struct Partition {
        std::int32_t partition_index = 0;
        std::int64_t start_offset = 0;

        static const Schema schema;
    };

    struct Topic {
        std::string_view topic_name;
        Array<Partition> partitions;

        static const Schema schema;
    };

    std::string_view group_id;
    Array<Topic> topics;

    static const Schema schema;
};

struct AlterShareGroupOffsetsResponse {
    struct Partition {
        std::int32_t partition_index = 0;
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

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message;  ///< may be null
    Array<Topic> responses;

    static const Schema schema;
};

}  // namespace partita
