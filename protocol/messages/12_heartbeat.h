#pragma once

#include "protocol/schema.h"

namespace partita {

/// Heartbeat (key 12): versions 0 to 4, flexible from 4.
///
///   v1: The response gains ThrottleTimeMs.
///   v2: No change of layout.
///   v3: The request gains GroupInstanceId.
///   v4: Flexible encoding.
struct HeartbeatRequest {
    std::string_view group_id;
    std::int32_t generation_id = 0;
    std::string_view member_id;
    std::optional<std::string_view> group_instance_id;  ///< v3 and later, may be null

    static const Schema schema;
};

struct HeartbeatResponse {
    std::int32_t throttle_time_ms = 0;  ///< v1 and later
    ErrorCode error_code = ErrorCode::none;

    static const Schema schema;
};

}  // namespace partita
