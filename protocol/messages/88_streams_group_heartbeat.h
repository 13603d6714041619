#pragma once

#include "protocol/schema.h"

namespace partita {

/// StreamsGroupHeartbeat (key 88): version 0, always flexible.
struct StreamsGroupHeartbeatRequest {
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

    struct CopartitionGroup {
        Array<std::int16_t> source_topics;
        Array<std::int16_t> source_topic_regex;
        Array<std::int16_t> repartition_source_topics;

        static const Schema schema;
    };

    struct Subtopology {
        std::string_view subtopology_id;
        Array<std::string_view> source_topics;
        Array<std::string_view> source_topic_regex;
        Array<TopicInfo> state_changelog_topics;
        Array<std::string_view> repartition_sink_topics;
        Array<TopicInfo> repartition_source_topics;
        Array<CopartitionGroup> copartition_groups;

        static const Schema schema;
    };

    struct Topology {
        std::int32_t epoch = 0;
        Array<Subtopology> subtopologies;

        static const Schema schema;
    };

    std::string_view group_id;
    std::string_view member_id;
    std::int32_t member_epoch = 0;
    std::int32_t endpoint_information_epoch = 0;
    std::optional<std::string_view> instance_id;  ///< may be null
    std::optional<std::string_view> rack_id;      ///< may be null
    std::int32_t rebalance_timeout_ms = -1;
    Topology* topology = nullptr;                  ///< may be null
    Array<TaskIds> active_tasks = nullptr;         ///< may be null
    Array<TaskIds> standby_tasks = nullptr;        ///< may be null
    Array<TaskIds> warmup_tasks = nullptr;         ///< may be null
    std::optional<std::string_view> process_id;    ///< may be null
    Endpoint* user_endpoint = nullptr;             ///< may be null
    Array<KeyValue> client_tags = nullptr;         ///< may be null
    Array<TaskOffset> task_offsets = nullptr;      ///< may be null
    Array<TaskOffset> task_end_offsets = nullptr;  ///< may be null
    bool shutdown_application = false;

    static const Schema schema;
};

struct StreamsGroupHeartbeatResponse {
    struct Status {
        std::int8_t status_code = 0;
        std::string_view status_detail;

        static const Schema schema;
    };

    struct TopicPartition {
        std::string_view topic;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    struct TaskIds {
        std::string_view subtopology_id;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    struct Endpoint {
        std::string_view host;
        std::uint16_t port = 0;

        static const Schema schema;
    };

    struct EndpointToPartitions {
        Endpoint user_endpoint;
        Array<TopicPartition> active_partitions;
        Array<TopicPartition> standby_partitions;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message;  ///< may be null
    std::string_view member_id;
    std::int32_t member_epoch = 0;
    std::int32_t heartbeat_interval_ms = 0;
    std::int32_t acceptable_recovery_lag = 0;
    std::int32_t task_offset_interval_ms = 0;
    Array<Status> status;                    ///< may be null
    Array<TaskIds> active_tasks = nullptr;   ///< may be null
    Array<TaskIds> standby_tasks = nullptr;  ///< may be null
    Array<TaskIds> warmup_tasks = nullptr;   ///< may be null
    std::int32_t endpoint_information_epoch = 0;
    Array<EndpointToPartitions> partitions_by_user_endpoint = nullptr;  ///< may be null

    static const Schema schema;
};

}  // namespace partita
