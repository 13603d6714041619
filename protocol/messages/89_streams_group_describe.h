#pragma once

#include "protocol/schema.h"

namespace partita {

/// StreamsGroupDescribe (key 89): version 0, always flexible.
struct StreamsGroupDescribeRequest {
    Array<std::string_view> group_ids;
    bool include_authorized_operations = false;

    static const Schema schema;
};

struct StreamsGroupDescribeResponse {
    struct Endpoint {
        std::string_view host;
        std::uint16_t port = 0;

        static const Schema schema;
    };

    struct TaskOffset {
        std::string_view subtopology_id;
        std::int32_t partition = 0;
        std::int64_t offset = 0;

        static const Schema schema;
    };

    struct TaskIds {
        std::string_view subtopology_id;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    struct Assignment {
        Array<TaskIds> active_tasks;
        Array<TaskIds> standby_tasks;
        Array<TaskIds> warmup_tasks;

        static const Schema schema;
    };

    struct KeyValue {
        std::string_view key;
        std::string_view value;

        static const Schema schema;
    };

    struct TopicInfo {
        std::string_view name;
        std::int32_t partitions = 0;
        std::int16_t replication_factor = 0;
        Array<KeyValue> topic_configs;

        static const Schema schema;
    };

    struct Subtopology {
        std::string_view subtopology_id;
        Array<std::string_view> source_topics;
        Array<std::string_view> repartition_sink_topics;
        Array<TopicInfo> state_changelog_topics;
        Array<TopicInfo> repartition_source_topics;

        static const Schema schema;
    };

    struct Topology {
        std::int32_t epoch = 0;
        Array<Subtopology> subtopologies = nullptr;  ///< may be null

        static const Schema schema;
    };

    struct Member {
        std::string_view member_id;
        std::int32_t member_epoch = 0;
        std::optional<std::string_view> instance_id;  ///< may be null
        std::optional<std::string_view> rack_id;      ///< may be null
        std::string_view client_id;
        std::string_view client_host;
        std::int32_t topology_epoch = 0;
        std::string_view process_id;
        Endpoint* user_endpoint = nullptr;  ///< may be null
        Array<KeyValue> client_tags;
        Array<TaskOffset> task_offsets;
        Array<TaskOffset> task_end_offsets;
        Assignment assignment;
        Assignment target_assignment;
        bool is_classic = false;

        static const Schema schema;
    };

    struct DescribedGroup {
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message;  ///< may be null
        std::string_view group_id;
        std::string_view group_state;
        std::int32_t group_epoch = 0;
        std::int32_t assignment_epoch = 0;
        Topology* topology = nullptr;  ///< may be null
        Array<Member> members;
        std::int32_t authorized_operations = -2147483648;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<DescribedGroup> groups;

    static const Schema schema;
};

}  // namespace partita
