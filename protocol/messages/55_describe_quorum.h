#pragma once

#include "protocol/schema.h"

namespace partita {

/// DescribeQuorum (key 55): versions 0 to 2, always flexible.
///
///   v1: The response gains LastFetchTimestamp, LastCaughtUpTimestamp.
///   v2: The response gains ReplicaDirectoryId, ErrorMessage, Nodes.
struct DescribeQuorumRequest {
    struct PartitionData {
        std::int32_t partition_index = 0;

        static const Schema schema;
    };

    struct TopicData {
        std::string_view topic_name;
        Array<PartitionData> partitions;

        static const Schema schema;
    };

    Array<TopicData> topics;

    static const Schema schema;
};

struct DescribeQuorumResponse {
    struct ReplicaState {
        std::int32_t replica_id = 0;
        Uuid replica_directory_id;  ///< v2
        std::int64_t log_end_offset = 0;
        std::int64_t last_fetch_timestamp = -1;      ///< v1 and later
        std::int64_t last_caught_up_timestamp = -1;  ///< v1 and later

        static const Schema schema;
    };

    struct PartitionData {
        std::int32_t partition_index = 0;
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message = "";  ///< v2, may be null
        std::int32_t leader_id = 0;
        std::int32_t leader_epoch = 0;
        std::int64_t high_watermark = 0;
        Array<ReplicaState> current_voters;
        Array<ReplicaState> observers;

        static const Schema schema;
    };

    struct TopicData {
        std::string_view topic_name;
        Array<PartitionData> partitions;

        static const Schema schema;
    };

    struct Listener {
        std::string_view name;   ///< v2
        std::string_view host;   ///< v2
        std::uint16_t port = 0;  ///< v2

        static const Schema schema;
    };

    struct Node {
        std::int32_t node_id = 0;   ///< v2
        Array<Listener> listeners;  ///< v2

        static const Schema schema;
    };

    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message = "";  ///< v2, may be null
    Array<TopicData> topics;
    Array<Node> nodes;  ///< v2

    static const Schema schema;
};

}  // namespace partita
