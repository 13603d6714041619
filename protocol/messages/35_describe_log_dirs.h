#pragma once

#include "protocol/schema.h"

namespace partita {

/// DescribeLogDirs (key 35): versions 1 to 5, flexible from 2.
///
///   v2: Flexible encoding.
///   v3: The response gains ErrorCode.
///   v4: The response gains TotalBytes, UsableBytes.
///   v5: The response gains IsCordoned.
struct DescribeLogDirsRequest {
    struct DescribableLogDirTopic {
        std::string_view topic;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    Array<DescribableLogDirTopic> topics;  ///< may be null

    static const Schema schema;
};

struct DescribeLogDirsResponse {
    struct DescribeLogDirsPartition {
        std::int32_t partition_index = 0;
        std::int64_t partition_size = 0;
        std::int64_t offset_lag = 0;
        bool is_future_key = false;

        static const Schema schema;
    };

    struct DescribeLogDirsTopic {
        std::string_view name;
        Array<DescribeLogDirsPartition> partitions;

        static const Schema schema;
    };

    struct DescribeLogDirsResult {
        ErrorCode error_code = ErrorCode::none;
        std::string_view log_dir;
        Array<DescribeLogDirsTopic> topics;
        std::int64_t total_bytes = -1;   ///< v4 and later
        std::int64_t usable_bytes = -1;  ///< v4 and later
        bool is_cordoned = false;        ///< v5

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;  ///< v3 and later
    Array<DescribeLogDirsResult> results;

    static const Schema schema;
};

}  // namespace partita
