#pragma once

#include "protocol/schema.h"

namespace partita {

/// ListPartitionReassignments (key 46): version 0, always flexible.
struct ListPartitionReassignmentsRequest {
    struct ListPartitionReassignmentsTopics {
        std::string_view name;
        Array<std::int32_t> partition_indexes;

        static const Schema schema;
    };

    std::int32_t timeout_ms = 60000;
    Array<ListPartitionReassignmentsTopics> topics = nullptr;  ///< may be null

    static const Schema schema;
};

struct ListPartitionReassignmentsResponse {
    struct OngoingPartitionReassignment {
        std::int32_t partition_index = 0;
        Array<std::int32_t> replicas;
        Array<std::int32_t> adding_replicas;
        Array<std::int32_t> removing_replicas;

        static const Schema schema;
    };

    struct OngoingTopicReassignment {
        std::string_view name;
        Array<OngoingPartitionReassignment> partitions;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message = "";  ///< may be null
    Array<OngoingTopicReassignment> topics;

    static const Schema schema;
};

}  // namespace partita
