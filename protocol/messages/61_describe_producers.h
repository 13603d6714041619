#pragma once

#include "protocol/schema.h"

namespace partita {

/// DescribeProducers (key 61): version 0, always flexible.
struct DescribeProducersRequest {
    struct TopicRequest {
        std::string_view name;
        Array<std::int32_t> partition_indexes;

        static const Schema schema;
    };

    Array<TopicRequest> topics;

    static const Schema schema;
};

struct DescribeProducersResponse {
    struct ProducerState {
        std::int64_t producer_id = 0;
        std::int32_t producer_epoch = 0;
        std::int32_t last_sequence = -1;
        std::int64_t last_timestamp = -1;
        std::int32_t coordinator_epoch = 0;
        std::int64_t current_txn_start_offset = -1;

        static const Schema schema;
    };

    struct PartitionResponse {
        std::int32_t partition_index = 0;
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message;  ///< may be null
        Array<ProducerState> active_producers;

        static const Schema schema;
    };

    struct TopicResponse {
        std::string_view name;
        Array<PartitionResponse> partitions;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<TopicResponse> topics;

    static const Schema schema;
};

}  // namespace partita
