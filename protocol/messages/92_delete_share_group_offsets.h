#pragma once

#include "protocol/schema.h"

namespace partita {

/// DeleteShareGroupOffsets (key 92): version 0, always flexible.
struct DeleteShareGroupOffsetsRequest {
    struct Topic {
        std::string_view topic_name;

        static const Schema schema;
    };

    std::string_view group_id;
    Array<Topic> topics;

    static const Schema schema;
};

struct DeleteShareGroupOffsetsResponse {
    struct Topic {
        std::string_view topic_name;
        Uuid topic_id;
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message;  ///< may be null

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message;  ///< may be null
    Array<Topic> responses;

    static const Schema schema;
};

}  // namespace partita
