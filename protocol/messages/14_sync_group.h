#pragma once

#include "protocol/schema.h"

namespace partita {

/// SyncGroup (key 14): versions 0 to 5, flexible from 4.
///
///   v1: The response gains ThrottleTimeMs.
///   v2: No change of layout.
///   v3: The request gains GroupInstanceId.
///   v4: Flexible encoding.
///   v5: The request gains ProtocolType, ProtocolName; the response gains ProtocolType, ProtocolName.
struct SyncGroupRequest {
    struct Assignment {
        std::string_view member_id;
        Bytes assignment;

        static const Schema schema;
    };

    std::string_view group_id;
    std::int32_t generation_id = 0;
    std::string_view member_id;
    std::optional<std::string_view> group_instance_id;  ///< v3 and later, may be null
    std::optional<std::string_view> protocol_type;      ///< v5, may be null
    std::optional<std::string_view> protocol_name;      ///< v5, may be null
    Array<Assignment> assignments;

    static const Schema schema;
};

struct SyncGroupResponse {
    std::int32_t throttle_time_ms = 0;  ///< v1 and later
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> protocol_type;  ///< v5, may be null
    std::optional<std::string_view> protocol_name;  ///< v5, may be null
    Bytes assignment;

    static const Schema schema;
};

}  // namespace partita
