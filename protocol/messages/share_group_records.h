#pragma once

#include "protocol/schema.h"

namespace partita {

/// ShareGroupMemberMetadataKey (record type 10): version 0, never flexible.
struct ShareGroupMemberMetadataKey {
    std::string_view group_id;
    std::string_view member_id;

    static const Schema schema;
};

/// ShareGroupMemberMetadataValue: version 0, always flexible.
struct ShareGroupMemberMetadataValue {
    std::optional<std::string_view> rack_id = "";  ///< may be null
    std::string_view client_id;
    std::string_view client_host;
    Array<std::string_view> subscribed_topic_names;

    static const Schema schema;
};

/// ShareGroupMetadataKey (record type 11): version 0, never flexible.
struct ShareGroupMetadataKey {
    std::string_view group_id;

    static const Schema schema;
};

/// ShareGroupMetadataValue: version 0, always flexible.
struct ShareGroupMetadataValue {
    std::int32_t epoch = 0;
    std::int64_t metadata_hash = 0;

    static const Schema schema;
};

/// ShareGroupTargetAssignmentMetadataKey (record type 12): version 0, never flexible.
struct ShareGroupTargetAssignmentMetadataKey {
    std::string_view group_id;

    static const Schema schema;
};

/// ShareGroupTargetAssignmentMetadataValue: version 0, always flexible.
struct ShareGroupTargetAssignmentMetadataValue {
    std::int32_t assignment_epoch = 0;
    std::int64_t assignment_timestamp = 0;

    static const Schema schema;
};

/// ShareGroupTargetAssignmentMemberKey (record type 13): version 0, never flexible.
struct ShareGroupTargetAssignmentMemberKey {
    std::string_view group_id;
    std::string_view member_id;

    static const Schema schema;
};

/// ShareGroupTargetAssignmentMemberValue: version 0, always flexible.
struct ShareGroupTargetAssignmentMemberValue {
    struct TopicPartition {
        Uuid topic_id;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    Array<TopicPartition> topic_partitions;

    static const Schema schema;
};

/// ShareGroupCurrentMemberAssignmentKey (record type 14): version 0, never flexible.
struct ShareGroupCurrentMemberAssignmentKey {
    std::string_view group_id;
    std::string_view member_id;

    static const Schema schema;
};

/// ShareGroupCurrentMemberAssignmentValue: version 0, always flexible.
struct ShareGroupCurrentMemberAssignmentValue {
    struct TopicPartitions {
        Uuid topic_id;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    std::int32_t member_epoch = 0;
    std::int32_t previous_member_epoch = 0;
    std::int8_t state = 0;
    Array<TopicPartitions> assigned_partitions;

    static const Schema schema;
};

/// ShareGroupStatePartitionMetadataKey (record type 15): version 0, never flexible.
struct ShareGroupStatePartitionMetadataKey {
    std::string_view group_id;

    static const Schema schema;
};

/// ShareGroupStatePartitionMetadataValue: version 0, always flexible.
struct ShareGroupStatePartitionMetadataValue {
    struct TopicPartitionsInfo {
        Uuid topic_id;
        std::string_view topic_name;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    struct TopicInfo {
        Uuid topic_id;
        std::string_view topic_name;

        static const Schema schema;
    };

    Array<TopicPartitionsInfo> initializing_topics;
    Array<TopicPartitionsInfo> initialized_topics;
    Array<TopicInfo> deleting_topics;

    static const Schema schema;
};

}  // namespace partita
