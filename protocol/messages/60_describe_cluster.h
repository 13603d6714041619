#pragma once

#include "protocol/schema.h"

namespace partita {

/// DescribeCluster (key 60): versions 0 to 2, always flexible.
///
///   v1: The request gains EndpointType; the response gains EndpointType.
///   v2: The request gains IncludeFencedBrokers; the response gains IsFenced.
struct DescribeClusterRequest {
    bool include_cluster_authorized_operations = false;
    std::int8_t endpoint_type = 1;        ///< v1 and later
    bool include_fenced_brokers = false;  ///< v2

    static const Schema schema;
};

struct DescribeClusterResponse {
    struct DescribeClusterBroker {
        std::int32_t broker_id = 0;
        std::string_view host;
        std::int32_t port = 0;
        std::optional<std::string_view> rack;  ///< may be null
        bool is_fenced = false;                ///< v2

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message;  ///< may be null
    std::int8_t endpoint_type = 1;                  ///< v1 and later
    std::string_view cluster_id;
    std::int32_t controller_id = -1;
    Array<DescribeClusterBroker> brokers;
    std::int32_t cluster_authorized_operations = -2147483648;

    static const Schema schema;
};

}  // namespace partita
