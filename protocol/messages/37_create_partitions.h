#pragma once

#include "protocol/schema.h"

namespace partita {

/// CreatePartitions (key 37): versions 0 to 3, flexible from 2.
///
///   v1: No change of layout.
///   v2: Flexible encoding.
///   v3: No change of layout.
struct CreatePartitionsRequest {
    struct CreatePartitionsAssignment {
        Array<std::int32_t> broker_ids;

        static const Schema schema;
    };

    struct CreatePartitionsTopic {
        std::string_view name;
        std::int32_t count = 0;
        Array<CreatePartitionsAssignment> assignments;  ///< may be null

        static const Schema schema;
    };

    Array<CreatePartitionsTopic> topics;
    std::int32_t timeout_ms = 0;
    bool validate_only = false;

    static const Schema schema;
};

struct CreatePartitionsResponse {
    struct CreatePartitionsTopicResult {
        std::string_view name;
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message;  ///< may be null

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<CreatePartitionsTopicResult> results;

    static const Schema schema;
};

}  // namespace partita
