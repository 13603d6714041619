#pragma once

#include "protocol/schema.h"

namespace partita {

/// DescribeGroups (key 15): versions 0 to 6, flexible from 5.
///
///   v1: The response gains ThrottleTimeMs.
///   v2: No change of layout.
///   v3: The request gains IncludeAuthorizedOperations; the response gains AuthorizedOperations.
///   v4: The response gains GroupInstanceId.
///   v5: Flexible encoding.
///   v6: The response gains ErrorMessage.
struct DescribeGroupsRequest {
    Array<std::string_view> groups;
    bool include_authorized_operations = false;  ///< v3 and later

    static const Schema schema;
};

struct DescribeGroupsResponse {
    struct DescribedGroupMember {
        std::string_view member_id;
        std::optional<std::string_view> group_instance_id;  ///< v4 and later, may be null
        std::string_view client_id;
        std::string_view client_host;
        Bytes member_metadata;
        Bytes member_assignment;

        static const Schema schema;
    };

    struct DescribedGroup {
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message;  ///< v6, may be null
        std::string_view group_id;
        std::string_view group_state;
        std::string_view protocol_type;
        std::string_view protocol_data;
        Array<DescribedGroupMember> members;
        std::int32_t authorized_operations = -2147483648;  ///< v3 and later

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;  ///< v1 and later
    Array<DescribedGroup> groups;

    static const Schema schema;
};

}  // namespace partita
