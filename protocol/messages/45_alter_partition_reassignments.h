#pragma once

#include "protocol/schema.h"

namespace partita {

/// AlterPartitionReassignments (key 45): versions 0 to 1, always flexible.
///
///   v1: The request gains AllowReplicationFactorChange; the response gains AllowReplicationFactorChange.
struct AlterPartitionReassignmentsRequest {
    struct ReassignablePartition {
        std::int32_t partition_index = 0;
        Array<std::int32_t> replicas = nullptr;  ///< may be null

        static const Schema schema;
    };

    struct ReassignableTopic {
        std::string_view name;
        Array<ReassignablePartition> partitions;

        static const Schema schema;
    };

    std::int32_t timeout_ms = 60000;
    bool allow_replication_factor_change = true;  ///< v1
    Array<ReassignableTopic> topics;

    static const Schema schema;
};

struct AlterPartitionReassignmentsResponse {
    struct ReassignablePartitionResponse {
        std::int32_t partition_index = 0;
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message = "";  ///< may be null

        static const Schema schema;
    };

    struct ReassignableTopicResponse {
        std::string_view name;
        Array<ReassignablePartitionResponse> partitions;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    bool allow_replication_factor_change = true;  ///< v1
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message = "";  ///< may be null
    Array<ReassignableTopicResponse> responses;

    static const Schema schema;
};

}  // namespace partita
