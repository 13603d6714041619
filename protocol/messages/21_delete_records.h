#pragma once

#include "protocol/schema.h"

namespace partita {

/// DeleteRecords (key 21): versions 0 to 2, flexible from 2.
///
///   v1: No change of layout.
///   v2: Flexible encoding.
struct DeleteRecordsRequest {
    struct DeleteRecordsPartition {
        std::int32_t partition_index = 0;
        std::int64_t offset = 0;

        static const Schema schema;
    };

    struct DeleteRecordsTopic {
        std::string_view name;
        Array<DeleteRecordsPartition> partitions;

        static const Schema schema;
    };

    Array<DeleteRecordsTopic> topics;
    std::int32_t timeout_ms = 0;

    static const Schema schema;
};

struct DeleteRecordsResponse {
    struct DeleteRecordsPartitionResult {
        std::int32_t partition_index = 0;
        std::int64_t low_watermark = 0;
        ErrorCode error_code = ErrorCode::none;

        static const Schema schema;
    };

    struct DeleteRecordsTopicResult {
        std::string_view name;
        Array<DeleteRecordsPartitionResult> partitions;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<DeleteRecordsTopicResult> topics;

    static const Schema schema;
};

}  // namespace partita
