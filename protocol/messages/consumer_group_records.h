#pragma once

#include "protocol/schema.h"

namespace partita {

/// ConsumerGroupMetadataKey (record type 3): version 0, never flexible.
struct ConsumerGroupMetadataKey {
    std::string_view group_id;

    static const Schema schema;
};

/// ConsumerGroupMetadataValue: version 0, always flexible.
struct ConsumerGroupMetadataValue {
    std::int32_t epoch = 0;
    std::int64_t metadata_hash = 0;

    static const Schema schema;
};

/// ConsumerGroupPartitionMetadataKey (record type 4): version 0, never flexible.
struct ConsumerGroupPartitionMetadataKey {
    std::string_view group_id;

    static const Schema schema;
};

/// ConsumerGroupPartitionMetadataValue: version 0, always flexible.
struct ConsumerGroupPartitionMetadataValue {
    struct PartitionMetadata {
        std::int32_t partition = 0;
        Array<std::string_view> racks;

        static const Schema schema;
    };

    struct TopicMetadata {
        Uuid topic_id;
        std::string_view topic_name;
        std::int32_t num_partitions = 0;
        Array<PartitionMetadata> partition_metadata;

        static const Schema schema;
    };

    Array<TopicMetadata> topics;

    static const Schema schema;
};

/// ConsumerGroupMemberMetadataKey (record type 5): version 0, never flexible.
struct ConsumerGroupMemberMetadataKey {
    std::string_view group_id;
    std::string_view member_id;

    static const Schema schema;
};

/// ConsumerGroupMemberMetadataValue: version 0, always flexible.
struct ConsumerGroupMemberMetadataValue {
    struct ClassicProtocol {
        std::string_view name;
        Bytes metadata;

        static const Schema schema;
    };

    struct ClassicMemberMetadata {
        std::int32_t session_timeout_ms = 0;
        Array<ClassicProtocol> supported_protocols;

        /// The default, which encoding leaves out. Null is written.
        static const ClassicMemberMetadata kEmpty;
        static const Schema schema;
    };

    std::optional<std::string_view> instance_id = "";  ///< may be null
    std::optional<std::string_view> rack_id = "";      ///< may be null
    std::string_view client_id;
    std::string_view client_host;
    Array<std::string_view> subscribed_topic_names;
    std::optional<std::string_view> subscribed_topic_regex = "";  ///< may be null
    std::int32_t rebalance_timeout_ms = -1;
    std::optional<std::string_view> server_assignor = "";                                   ///< may be null
    const ClassicMemberMetadata* classic_member_metadata = &ClassicMemberMetadata::kEmpty;  ///< may be null

    static const Schema schema;
};

/// ConsumerGroupTargetAssignmentMetadataKey (record type 6): version 0, never flexible.
struct ConsumerGroupTargetAssignmentMetadataKey {
    std::string_view group_id;

    static const Schema schema;
};

/// ConsumerGroupTargetAssignmentMetadataValue: version 0, always flexible.
struct ConsumerGroupTargetAssignmentMetadataValue {
    std::int32_t assignment_epoch = 0;
    std::int64_t assignment_timestamp = 0;

    static const Schema schema;
};

/// ConsumerGroupTargetAssignmentMemberKey (record type 7): version 0, never flexible.
struct ConsumerGroupTargetAssignmentMemberKey {
    std::string_view group_id;
    std::string_view member_id;

    static const Schema schema;
};

/// ConsumerGroupTargetAssignmentMemberValue: version 0, always flexible.
struct ConsumerGroupTargetAssignmentMemberValue {
    struct TopicPartition {
        Uuid topic_id;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    Array<TopicPartition> topic_partitions;

    static const Schema schema;
};

/// ConsumerGroupCurrentMemberAssignmentKey (record type 8): version 0, never flexible.
struct ConsumerGroupCurrentMemberAssignmentKey {
    std::string_view group_id;
    std::string_view member_id;

    static const Schema schema;
};

/// ConsumerGroupCurrentMemberAssignmentValue: version 0, always flexible.
struct ConsumerGroupCurrentMemberAssignmentValue {
    struct TopicPartitions {
        Uuid topic_id;
        Array<std::int32_t> partitions;
        Array<std::int32_t> assignment_epochs;  ///< may be null

        static const Schema schema;
    };

    std::int32_t member_epoch = 0;
    std::int32_t previous_member_epoch = 0;
    std::int8_t state = 0;
    Array<TopicPartitions> assigned_partitions;
    Array<TopicPartitions> partitions_pending_revocation;

    static const Schema schema;
};

/// ConsumerGroupRegularExpressionKey (record type 16): version 0, never flexible.
struct ConsumerGroupRegularExpressionKey {
    std::string_view group_id;
    std::string_view regular_expression;

    static const Schema schema;
};

/// ConsumerGroupRegularExpressionValue: version 0, always flexible.
struct ConsumerGroupRegularExpressionValue {
    Array<std::string_view> topics;
    std::int64_t version = 0;
    std::int64_t timestamp = 0;

    static const Schema schema;
};

}  // namespace partita
