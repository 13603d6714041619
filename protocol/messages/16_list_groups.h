#pragma once

#include "protocol/schema.h"

namespace partita {

/// ListGroups (key 16): versions 0 to 5, flexible from 3.
///
///   v1: The response gains ThrottleTimeMs.
///   v2: No change of layout.
///   v3: Flexible encoding.
///   v4: The request gains StatesFilter; the response gains GroupState.
///   v5: The request gains TypesFilter; the response gains GroupType.
struct ListGroupsRequest {
    Array<std::string_view> states_filter;  ///< v4 and later
    Array<std::string_view> types_filter;   ///< v5

    static const Schema schema;
};

struct ListGroupsResponse {
    struct ListedGroup {
        std::string_view group_id;
        std::string_view protocol_type;
        std::string_view group_state;  ///< v4 and later
        std::string_view group_type;   ///< v5

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;  ///< v1 and later
    ErrorCode error_code = ErrorCode::none;
    Array<ListedGroup> groups;

    static const Schema schema;
};

}  // namespace partita
