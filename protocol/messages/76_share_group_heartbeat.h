#pragma once

#include "protocol/schema.h"

namespace partita {

/// ShareGroupHeartbeat (key 76): version 1, always flexible.
struct ShareGroupHeartbeatRequest {
    std::string_view group_id;
    std::string_view member_id;
    std::int32_t member_epoch = 0;
    std::optional<std::string_view> rack_id;                   ///< may be null
    Array<std::string_view> subscribed_topic_names = nullptr;  ///< may be null

    static const Schema schema;
};

struct ShareGroupHeartbeatResponse {
    struct TopicPartitions {
        Uuid topic_id;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    struct Assignment {
        Array<TopicPartitions> topic_partitions;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message;  ///< may be null
    std::optional<std::string_view> member_id;      ///< may be null
    std::int32_t member_epoch = 0;
    std::int32_t heartbeat_interval_ms = 0;
    Assignment* assignment = nullptr;  ///< may be null

    static const Schema schema;
};

}  // namespace partita
