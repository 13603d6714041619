#pragma once

#include "protocol/schema.h"

namespace partita {

/// Metadata (key 3): versions 0 to 13, flexible from 9.
///
///   v1: The request lets Topics be null; the response gains Rack, IsInternal, ControllerId.
///   v2: The response gains ClusterId.
///   v3: The response gains ThrottleTimeMs.
///   v4: The request gains AllowAutoTopicCreation.
///   v5: The response gains OfflineReplicas.
///   v6: No change of layout.
///   v7: The response gains LeaderEpoch.
///   v8: The request gains IncludeClusterAuthorizedOperations, IncludeTopicAuthorizedOperations; the
///     response gains TopicAuthorizedOperations, ClusterAuthorizedOperations.
///   v9: Flexible encoding.
///   v10: The request gains TopicId and lets Name be null; the response gains TopicId.
///   v11: The request loses IncludeClusterAuthorizedOperations; the response loses
///     ClusterAuthorizedOperations.
///   v12: The response lets Name be null.
///   v13: The response gains ErrorCode.
struct MetadataRequest {
    struct Topic {
        Uuid topic_id;                              ///< v10 and later
        std::optional<std::string_view> name = "";  ///< may be null from v10

        static const Schema schema;
    };

    Array<Topic> topics;                                 ///< may be null from v1
    bool allow_auto_topic_creation = true;               ///< v4 and later
    bool include_cluster_authorized_operations = false;  ///< v8 to v10
    bool include_topic_authorized_operations = false;    ///< v8 and later

    static const Schema schema;
};

struct MetadataResponse {
    struct Broker {
        std::int32_t node_id = 0;
        std::string_view host;
        std::int32_t port = 0;
        std::optional<std::string_view> rack;  ///< v1 and later, may be null

        static const Schema schema;
    };

    struct Partition {
        ErrorCode error_code = ErrorCode::none;
        std::int32_t partition_index = 0;
        std::int32_t leader_id = 0;
        std::int32_t leader_epoch = -1;  ///< v7 and later
        Array<std::int32_t> replica_nodes;
        Array<std::int32_t> isr_nodes;
        Array<std::int32_t> offline_replicas;  ///< v5 and later

        static const Schema schema;
    };

    struct Topic {
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> name = "";  ///< may be null from v12
        Uuid topic_id;                              ///< v10 and later
        bool is_internal = false;                   ///< v1 and later
        Array<Partition> partitions;
        std::int32_t topic_authorized_operations = -2147483648;  ///< v8 and later

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;  ///< v3 and later
    Array<Broker> brokers;
    std::optional<std::string_view> cluster_id;  ///< v2 and later, may be null
    std::int32_t controller_id = -1;             ///< v1 and later
    Array<Topic> topics;
    std::int32_t cluster_authorized_operations = -2147483648;  ///< v8 to v10
    ErrorCode error_code = ErrorCode::none;                    ///< v13

    static const Schema schema;
};

}  // namespace partita
