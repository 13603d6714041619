#pragma once

#include "protocol/schema.h"

namespace partita {

/// StreamsGroupMetadataKey (record type 17): version 0, never flexible.
struct StreamsGroupMetadataKey {
    std::string_view group_id;

    static const Schema schema;
};

/// StreamsGroupMetadataValue: version 0, always flexible.
struct StreamsGroupMetadataValue {
    struct LastAssignmentConfig {
        std::string_view key;
        std::string_view value;

        static const Schema schema;
    };

    std::int32_t epoch = 0;
    std::int64_t metadata_hash = 0;
    std::int32_t validated_topology_epoch = -1;
    Array<LastAssignmentConfig> last_assignment_configs;  ///< may be null

    static const Schema schema;
};

/// StreamsGroupMemberMetadataKey (record type 19): version 0, never flexible.
struct StreamsGroupMemberMetadataKey {
    std::string_view group_id;
    std::string_view member_id;

    static const Schema schema;
};

/// StreamsGroupMemberMetadataValue: version 0, always flexible.
struct StreamsGroupMemberMetadataValue {
    struct Endpoint {
        std::string_view host;
        std::uint16_t port = 0;

        static const Schema schema;
    };

    struct KeyValue {
        std::string_view key;
        std::string_view value;

        static const Schema schema;
    };

    std::optional<std::string_view> instance_id = "";  ///< may be null
    std::optional<std::string_view> rack_id = "";      ///< may be null
    std::string_view client_id;
    std::string_view client_host;
    std::int32_t rebalance_timeout_ms = -1;
    std::int32_t topology_epoch = 0;
    std::string_view process_id;
    Endpoint* user_endpoint = nullptr;  ///< may be null
    Array<KeyValue> client_tags;

    static const Schema schema;
};

/// StreamsGroupTargetAssignmentMetadataKey (record type 20): version 0, never flexible.
struct StreamsGroupTargetAssignmentMetadataKey {
    std::string_view group_id;

    static const Schema schema;
};

/// StreamsGroupTargetAssignmentMetadataValue: version 0, always flexible.
struct StreamsGroupTargetAssignmentMetadataValue {
    std::int32_t assignment_epoch = 0;
    std::int64_t assignment_timestamp = 0;

    static const Schema schema;
};

/// StreamsGroupTargetAssignmentMemberKey (record type 21): version 0, never flexible.
struct StreamsGroupTargetAssignmentMemberKey {
    std::string_view group_id;
    std::string_view member_id;

    static const Schema schema;
};

/// StreamsGroupTargetAssignmentMemberValue: version 0, always flexible.
struct StreamsGroupTargetAssignmentMemberValue {
    struct TaskIds {
        std::string_view subtopology_id;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    Array<TaskIds> active_tasks;
    Array<TaskIds> standby_tasks;
    Array<TaskIds> warmup_tasks;

    static const Schema schema;
};

/// StreamsGroupCurrentMemberAssignmentKey (record type 22): version 0, never flexible.
struct StreamsGroupCurrentMemberAssignmentKey {
    std::string_view group_id;
    std::string_view member_id;

    static const Schema schema;
};

/// StreamsGroupCurrentMemberAssignmentValue: version 0, always flexible.
struct StreamsGroupCurrentMemberAssignmentValue {
    struct TaskIds {
        std::string_view subtopology_id;
        Array<std::int32_t> partitions;
        Array<std::int32_t> assignment_epochs;  ///< may be null

        static const Schema schema;
    };

    std::int32_t member_epoch = 0;
    std::int32_t previous_member_epoch = 0;
    std::int8_t state = 0;
    Array<TaskIds> active_tasks;
    Array<TaskIds> standby_tasks;
    Array<TaskIds> warmup_tasks;
    Array<TaskIds> active_tasks_pending_revocation;
    Array<TaskIds> standby_tasks_pending_revocation;
    Array<TaskIds> warmup_tasks_pending_revocation;

    static const Schema schema;
};

/// StreamsGroupTopologyKey (record type 23): version 0, never flexible.
struct StreamsGroupTopologyKey {
    std::string_view group_id;

    static const Schema schema;
};

/// StreamsGroupTopologyValue: version 0, always flexible.
struct StreamsGroupTopologyValue {
    struct TopicConfig {
        std::string_view key;
        std::string_view value;

        static const Schema schema;
    };

    struct TopicInfo {
        std::string_view name;
        std::int32_t partitions = 0;
        std::int16_t replication_factor = 0;
        Array<TopicConfig> topic_configs;

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

    std::int32_t epoch = 0;
    Array<Subtopology> subtopologies;

    static const Schema schema;
};

}  // namespace partita
