#pragma once

#include "protocol/schema.h"

namespace partita {

/// DeleteGroups (key 42): versions 0 to 2, flexible from 2.
///
///   v1: No change of layout.
///   v2: Flexible encoding.
struct DeleteGroupsRequest {
    Array<std::string_view> groups_names;

    static const Schema schema;
};

struct DeleteGroupsResponse {
    struct DeletableGroupResult {
        std::string_view group_id;
        ErrorCode error_code = ErrorCode::none;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<DeletableGroupResult> results;

    static const Schema schema;
};

}  // namespace partita
