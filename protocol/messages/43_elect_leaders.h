#pragma once

#include "protocol/schema.h"

namespace partita {

/// ElectLeaders (key 43): versions 0 to 2, flexible from 2.
///
///   v1: The request gains ElectionType; the response gains ErrorCode.
///   v2: Flexible encoding.
struct ElectLeadersRequest {
    struct TopicPartitions {
        std::string_view topic;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    std::int8_t election_type = 0;            ///< v1 and later
    Array<TopicPartitions> topic_partitions;  ///< may be null
    std::int32_t timeout_ms = 60000;

    static const Schema schema;
};

struct ElectLeadersResponse {
    struct PartitionResult {
        std::int32_t partition_id = 0;
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message = "";  ///< may be null

        static const Schema schema;
    };

    struct ReplicaElectionResult {
        std::string_view topic;
        Array<PartitionResult> partition_result;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;  ///< v1 and later
    Array<ReplicaElectionResult> replica_election_results;

    static const Schema schema;
};

}  // namespace partita
