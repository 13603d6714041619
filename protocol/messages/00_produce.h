#pragma once

#include "protocol/schema.h"

namespace partita {

/// Produce (key 0): versions 3 to 13, flexible from 9.
///
///   v4: No change of layout.
///   v5: The response gains LogStartOffset.
///   v6 to v7: No change of layout.
///   v8: The response gains RecordErrors, ErrorMessage.
///   v9: Flexible encoding.
///   v10: The response gains CurrentLeader, NodeEndpoints.
///   v11 to v12: No change of layout.
///   v13: The request gains TopicId and loses Name; the response gains TopicId and loses Name.
struct ProduceRequest {
    struct PartitionProduceData {
        std::int32_t index = 0;
        Records records;  ///< may be null

        static const Schema schema;
    };

    struct TopicProduceData {
        std::string_view name;  ///< up to v12
        Uuid topic_id;          ///< v13
        Array<PartitionProduceData> partition_data;

        static const Schema schema;
    };

    std::optional<std::string_view> transactional_id;  ///< may be null
    std::int16_t acks = 0;
    std::int32_t timeout_ms = 0;
    Array<TopicProduceData> topic_data;

    static const Schema schema;
};

struct ProduceResponse {
    struct BatchIndexAndErrorMessage {
        std::int32_t batch_index = 0;                               ///< v8 and later
        std::optional<std::string_view> batch_index_error_message;  ///< v8 and later, may be null

        static const Schema schema;
    };

    struct LeaderIdAndEpoch {
        std::int32_t leader_id = -1;     ///< v10 and later
        std::int32_t leader_epoch = -1;  ///< v10 and later

        static const Schema schema;
    };

    struct PartitionProduceResponse {
        std::int32_t index = 0;
        ErrorCode error_code = ErrorCode::none;
        std::int64_t base_offset = 0;
        std::int64_t log_append_time_ms = -1;
        std::int64_t log_start_offset = -1;              ///< v5 and later
        Array<BatchIndexAndErrorMessage> record_errors;  ///< v8 and later
        std::optional<std::string_view> error_message;   ///< v8 and later, may be null
        LeaderIdAndEpoch current_leader;                 ///< v10 and later

        static const Schema schema;
    };

    struct TopicProduceResponse {
        std::string_view name;  ///< up to v12
        Uuid topic_id;          ///< v13
        Array<PartitionProduceResponse> partition_responses;

        static const Schema schema;
    };

    struct NodeEndpoint {
        std::int32_t node_id = 0;              ///< v10 and later
        std::string_view host;                 ///< v10 and later
        std::int32_t port = 0;                 ///< v10 and later
        std::optional<std::string_view> rack;  ///< v10 and later, may be null

        static const Schema schema;
    };

    Array<TopicProduceResponse> responses;
    std::int32_t throttle_time_ms = 0;
    Array<NodeEndpoint> node_endpoints;  ///< v10 and later

    static const Schema schema;
};

}  // namespace partita
