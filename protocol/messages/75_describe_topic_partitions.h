#pragma once

#include "protocol/schema.h"

namespace partita {

/// DescribeTopicPartitions (key 75): version 0, always flexible.
struct DescribeTopicPartitionsRequest {
    struct TopicRequest {
        std::string_view name;

        static const Schema schema;
    };

    struct Cursor {
        std::string_view topic_name;
        std::int32_t partition_index = 0;

        static const Schema schema;
    };

    Array<TopicRequest> topics;
    std::int32_t response_partition_limit = 2000;
    Cursor* cursor = nullptr;  ///< may be null

    static const Schema schema;
};

struct DescribeTopicPartitionsResponse {
    struct Partition {
        ErrorCode error_code = ErrorCode::none;
        std::int32_t partition_index = 0;
        std::int32_t leader_id = 0;
        std::int32_t leader_epoch = -1;
        Array<std::int32_t> replica_nodes;
        Array<std::int32_t> isr_nodes;
        Array<std::int32_t> eligible_leader_replicas = nullptr;  ///< may be null
        Array<std::int32_t> last_known_elr = nullptr;            ///< may be null
        Array<std::int32_t> offline_replicas;

        static const Schema schema;
    };

    struct Topic {
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> name = "";  ///< may be null
        Uuid topic_id;
        bool is_internal = false;
        Array<Partition> partitions;
        std::int32_t topic_authorized_operations = -2147483648;

        static const Schema schema;
    };

    struct Cursor {
        std::string_view topic_name;
        std::int32_t partition_index = 0;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<Topic> topics;
    Cursor* next_cursor = nullptr;  ///< may be null

    static const Schema schema;
};

}  // namespace partita
