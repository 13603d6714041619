#pragma once

#include "protocol/schema.h"

namespace partita {

/// ShareGroupDescribe (key 77): version 1, always flexible.
struct ShareGroupDescribeRequest {
    Array<std::string_view> group_ids;
    bool include_authorized_operations = false;

    static const Schema schema;
};

struct ShareGroupDescribeResponse {
    struct TopicPartitions {
        Uuid topic_id;
        std::string_view topic_name;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    struct Assignment {
        Array<TopicPartitions> topic_partitions;

        static const Schema schema;
    };

    struct Member {
        std::string_view member_id;
        std::optional<std::string_view> rack_id;  ///< may be null
        std::int32_t member_epoch = 0;
        std::string_view client_id;
        std::string_view client_host;
        Array<std::string_view> subscribed_topic_names;
        Assignment assignment;

        static const Schema schema;
    };

    struct DescribedGroup {
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message;  ///< may be null
        std::string_view group_id;
        std::string_view group_state;
        std::int32_t group_epoch = 0;
        std::int32_t assignment_epoch = 0;
        std::string_view assignor_name;
        Array<Member> members;
        std::int32_t authorized_operations = -2147483648;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<DescribedGroup> groups;

    static const Schema schema;
};

}  // namespace partita
