#pragma once

#include "protocol/schema.h"

namespace partita {

/// CreateTopics (key 19): versions 2 to 7, flexible from 5.
///
///   v3 to v4: No change of layout.
///   v5: Flexible encoding; the response gains TopicConfigErrorCode, NumPartitions, ReplicationFactor,
///     Configs.
///   v6: No change of layout.
///   v7: The response gains TopicId.
struct CreateTopicsRequest {
    struct CreatableReplicaAssignment {
        std::int32_t partition_index = 0;
        Array<std::int32_t> broker_ids;

        static const Schema schema;
    };

    struct CreatableTopicConfig {
        std::string_view name;
        std::optional<std::string_view> value = "";  ///< may be null

        static const Schema schema;
    };

    struct CreatableTopic {
        std::string_view name;
        std::int32_t num_partitions = 0;
        std::int16_t replication_factor = 0;
        Array<CreatableReplicaAssignment> assignments;
        Array<CreatableTopicConfig> configs;

        static const Schema schema;
    };

    Array<CreatableTopic> topics;
    std::int32_t timeout_ms = 60000;
    bool validate_only = false;

    static const Schema schema;
};

struct CreateTopicsResponse {
    struct CreatableTopicConfigs {
        std::string_view name;                       ///< v5 and later
        std::optional<std::string_view> value = "";  ///< v5 and later, may be null
        bool read_only = false;                      ///< v5 and later
        std::int8_t config_source = -1;              ///< v5 and later
        bool is_sensitive = false;                   ///< v5 and later

        static const Schema schema;
    };

    struct CreatableTopicResult {
        std::string_view name;
        Uuid topic_id;  ///< v7
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message = "";  ///< may be null
        std::int16_t topic_config_error_code = 0;            ///< v5 and later
        std::int32_t num_partitions = -1;                    ///< v5 and later
        std::int16_t replication_factor = -1;                ///< v5 and later
        Array<CreatableTopicConfigs> configs;                ///< v5 and later, may be null

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<CreatableTopicResult> topics;

    static const Schema schema;
};

}  // namespace partita
