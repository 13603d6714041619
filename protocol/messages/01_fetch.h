#pragma once

#include <limits>

#include "protocol/schema.h"

namespace partita {

/// Fetch (key 1): versions 4 to 18, flexible from 12.
///
///   v5: The request gains LogStartOffset; the response gains LogStartOffset.
///   v6: No change of layout.
///   v7: The request gains SessionId, SessionEpoch, ForgottenTopicsData; the response gains ErrorCode,
///     SessionId.
///   v8: No change of layout.
///   v9: The request gains CurrentLeaderEpoch.
///   v10: No change of layout.
///   v11: The request gains RackId; the response gains PreferredReadReplica.
///   v12: Flexible encoding; the request gains LastFetchedEpoch, ClusterId; the response gains
///     DivergingEpoch, CurrentLeader, SnapshotId.
///   v13: The request gains TopicId and loses Topic; the response gains TopicId and loses Topic.
///   v14: No change of layout.
///   v15: The request gains ReplicaState and loses ReplicaId.
///   v16: The response gains NodeEndpoints.
///   v17: The request gains ReplicaDirectoryId.
///   v18: The request gains HighWatermark.
struct FetchRequest {
    struct ReplicaState {
        std::int32_t replica_id = -1;     ///< v15 and later
        std::int64_t replica_epoch = -1;  ///< v15 and later

        static const Schema schema;
    };

    struct FetchPartition {
        std::int32_t partition = 0;
        std::int32_t current_leader_epoch = -1;  ///< v9 and later
        std::int64_t fetch_offset = 0;
        std::int32_t last_fetched_epoch = -1;  ///< v12 and later
        std::int64_t log_start_offset = -1;    ///< v5 and later
        std::int32_t partition_max_bytes = 0;
        Uuid replica_directory_id;                                               ///< v17 and later
        std::int64_t high_watermark = std::numeric_limits<std::int64_t>::max();  ///< v18

        static const Schema schema;
    };

    struct FetchTopic {
        std::string_view topic;  ///< up to v12
        Uuid topic_id;           ///< v13 and later
        Array<FetchPartition> partitions;

        static const Schema schema;
    };

    struct ForgottenTopic {
        std::string_view topic;          ///< v7 to v12
        Uuid topic_id;                   ///< v13 and later
        Array<std::int32_t> partitions;  ///< v7 and later

        static const Schema schema;
    };

    std::optional<std::string_view> cluster_id;  ///< v12 and later, may be null
    std::int32_t replica_id = -1;                ///< up to v14
    ReplicaState replica_state;                  ///< v15 and later
    std::int32_t max_wait_ms = 0;
    std::int32_t min_bytes = 0;
    std::int32_t max_bytes = std::numeric_limits<std::int32_t>::max();
    std::int8_t isolation_level = 0;
    std::int32_t session_id = 0;      ///< v7 and later
    std::int32_t session_epoch = -1;  ///< v7 and later
    Array<FetchTopic> topics;
    Array<ForgottenTopic> forgotten_topics_data;  ///< v7 and later
    std::string_view rack_id;                     ///< v11 and later

    static const Schema schema;
};

struct FetchResponse {
    struct EpochEndOffset {
        std::int32_t epoch = -1;       ///< v12 and later
        std::int64_t end_offset = -1;  ///< v12 and later

        static const Schema schema;
    };

    struct LeaderIdAndEpoch {
        std::int32_t leader_id = -1;     ///< v12 and later
        std::int32_t leader_epoch = -1;  ///< v12 and later

        static const Schema schema;
    };

    struct SnapshotId {
        std::int64_t end_offset = -1;
        std::int32_t epoch = -1;

        static const Schema schema;
    };

    struct AbortedTransaction {
        std::int64_t producer_id = 0;
        std::int64_t first_offset = 0;

        static const Schema schema;
    };

    struct PartitionData {
        std::int32_t partition_index = 0;
        ErrorCode error_code = ErrorCode::none;
        std::int64_t high_watermark = 0;
        std::int64_t last_stable_offset = -1;
        std::int64_t log_start_offset = -1;              ///< v5 and later
        EpochEndOffset diverging_epoch;                  ///< v12 and later
        LeaderIdAndEpoch current_leader;                 ///< v12 and later
        SnapshotId snapshot_id;                          ///< v12 and later
        Array<AbortedTransaction> aborted_transactions;  ///< may be null
        std::int32_t preferred_read_replica = -1;        ///< v11 and later
        Records records;                                 ///< may be null

        static const Schema schema;
    };

    struct FetchableTopicResponse {
        std::string_view topic;  ///< up to v12
        Uuid topic_id;           ///< v13 and later
        Array<PartitionData> partitions;

        static const Schema schema;
    };

    struct NodeEndpoint {
        std::int32_t node_id = 0;              ///< v16 and later
        std::string_view host;                 ///< v16 and later
        std::int32_t port = 0;                 ///< v16 and later
        std::optional<std::string_view> rack;  ///< v16 and later, may be null

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;  ///< v7 and later
    std::int32_t session_id = 0;             ///< v7 and later
    Array<FetchableTopicResponse> responses;
    Array<NodeEndpoint> node_endpoints;  ///< v16 and later

    static const Schema schema;
};

}  // namespace partita
