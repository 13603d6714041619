#pragma once

#include "protocol/schema.h"

namespace partita {

/// OffsetDelete (key 47): version 0, never flexible.
struct OffsetDeleteRequest {
    struct Partition {
        std::int32_t partition_index = 0;

        static const Schema schema;
    };

    struct Topic {
        std::string_view name;
        Array<Partition> partitions;

        static const Schema schema;
    };

    std::string_view group_id;
    Array<Topic> topics;

    static const Schema schema;
};

struct OffsetDeleteResponse {
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

    ErrorCode error_code = ErrorCode::none;
    std::int32_t throttle_time_ms = 0;
    Array<Topic> topics;

    static const Schema schema;
};

}  // namespace partita
