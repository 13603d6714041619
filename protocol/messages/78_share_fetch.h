#pragma once

#include <limits>

#include "protocol/schema.h"

namespace partita {

/// ShareFetch (key 78): versions 1 to 2, always flexible.
///
///   v2: The request gains ShareAcquireMode, IsRenewAck.
struct ShareFetchRequest {
    struct AcknowledgementBatch {
        std::int64_t first_offset = 0;
        std::int64_t last_offset = 0;
        Array<std::int8_t> acknowledge_types;

        static const Schema schema;
    };

    struct FetchPartition {
        std::int32_t partition_index = 0;
        Array<AcknowledgementBatch> acknowledgement_batches;

        static const Schema schema;
    };

    struct FetchTopic {
        Uuid topic_id;
        Array<FetchPartition> partitions;

        static const Schema schema;
    };

    struct ForgottenTopic {
        Uuid topic_id;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    std::optional<std::string_view> group_id;        ///< may be null
    std::optional<std::string_view> member_id = "";  ///< may be null
    std::int32_t share_session_epoch = 0;
    std::int32_t max_wait_ms = 0;
    std::int32_t min_bytes = 0;
    std::int32_t max_bytes = std::numeric_limits<std::int32_t>::max();
    std::int32_t max_records = 0;
    std::int32_t batch_size = 0;
    std::int8_t share_acquire_mode = 0;  ///< v2
    bool is_renew_ack = false;           ///< v2
    Array<FetchTopic> topics;
    Array<ForgottenTopic> forgotten_topics_data;

    static const Schema schema;
};

struct ShareFetchResponse {
    struct LeaderIdAndEpoch {
        std::int32_t leader_id = 0;
        std::int32_t leader_epoch = 0;

        static const Schema schema;
    };

    struct AcquiredRecords {
        std::int64_t first_offset = 0;
        std::int64_t last_offset = 0;
        std::int16_t delivery_count = 0;

        static const Schema schema;
    };

    struct PartitionData {
        std::int32_t partition_index = 0;
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message;  ///< may be null
        ErrorCode acknowledge_error_code = ErrorCode::none;
        std::optional<std::string_view> acknowledge_error_message;  ///< may be null
        LeaderIdAndEpoch current_leader;
        Records records;
        Array<AcquiredRecords> acquired_records;

        static const Schema schema;
    };

    struct ShareFetchableTopicResponse {
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
    std::int32_t acquisition_lock_timeout_ms = 0;
    Array<ShareFetchableTopicResponse> responses;
    Array<NodeEndpoint> node_endpoints;

    static const Schema schema;
};

}  // namespace partita
