#pragma once

#include "protocol/schema.h"

namespace partita {

/// ShareAcknowledge (key 79): versions 1 to 2, always flexible.
///
///   v2: The request gains IsRenewAck; the response gains AcquisitionLockTimeoutMs.
struct ShareAcknowledgeRequest {
    struct AcknowledgementBatch {
        std::int64_t first_offset = 0;
        std::int64_t last_offset = 0;
        Array<std::int8_t> acknowledge_types;

        static const Schema schema;
    };

    struct AcknowledgePartition {
        std::int32_t partition_index = 0;
        Array<AcknowledgementBatch> acknowledgement_batches;

        static const Schema schema;
    };

    struct AcknowledgeTopic {
        Uuid topic_id;
        Array<AcknowledgePartition> partitions;

        static const Schema schema;
    };

    std::optional<std::string_view> group_id;        ///< may be null
    std::optional<std::string_view> member_id = "";  ///< may be null
    std::int32_t share_session_epoch = 0;
    bool is_renew_ack = false;  ///< v2
    Array<AcknowledgeTopic> topics;

    static const Schema schema;
};

struct ShareAcknowledgeResponse {
    struct LeaderIdAndEpoch {
        std::int32_t leader_id = 0;
        std::int32_t leader_epoch = 0;

        static const Schema schema;
    };

    struct PartitionData {
        std::int32_t partition_index = 0;
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message;  ///< may be null
        LeaderIdAndEpoch current_leader;

        static const Schema schema;
    };

    struct ShareAcknowledgeTopicResponse {
        Uuid topic_id;
        Array<PartitionData> partitions;

        static const Schema schema;
    };

    struct NodeEndpoint {
        std::int32_t node_id = 0;
        std::string_view host;
        std::int32_t port = 0;
        std::optional<std::string_view> rack;  ///< may be null

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message;  ///< may be null
    std::int32_t acquisition_lock_timeout_ms = 0;   ///< v2
    Array<ShareAcknowledgeTopicResponse> responses;
    Array<NodeEndpoint> node_endpoints;

    static const Schema schema;
};

}  // namespace partita
