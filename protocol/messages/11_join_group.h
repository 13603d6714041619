#pragma once

#include "protocol/schema.h"

namespace partita {

/// JoinGroup (key 11): versions 0 to 9, flexible from 6.
///
///   v1: The request gains RebalanceTimeoutMs.
///   v2: The response gains ThrottleTimeMs.
///   v3 to v4: No change of layout.
///   v5: The request gains GroupInstanceId; the response gains GroupInstanceId.
///   v6: Flexible encoding.
///   v7: The response gains ProtocolType and lets ProtocolName be null.
///   v8: The request gains Reason.
///   v9: The response gains SkipAssignment.
struct JoinGroupRequest {
    struct Protocol {
        std::string_view name;
        Bytes metadata;

        static const Schema schema;
    };

    std::string_view group_id;
    std::int32_t session_timeout_ms = 0;
    std::int32_t rebalance_timeout_ms = -1;  ///< v1 and later
    std::string_view member_id;
    std::optional<std::string_view> group_instance_id;  ///< v5 and later, may be null
    std::string_view protocol_type;
    Array<Protocol> protocols;
    std::optional<std::string_view> reason;  ///< v8 and later, may be null

    static const Schema schema;
};

struct JoinGroupResponse {
    struct Member {
        std::string_view member_id;
        std::optional<std::string_view> group_instance_id;  ///< v5 and later, may be null
        Bytes metadata;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;  ///< v2 and later
    ErrorCode error_code = ErrorCode::none;
    std::int32_t generation_id = -1;
    std::optional<std::string_view> protocol_type;       ///< v7 and later, may be null
    std::optional<std::string_view> protocol_name = "";  ///< may be null from v7
    std::string_view leader;
    bool skip_assignment = false;  ///< v9
    std::string_view member_id;
    Array<Member> members;

    static const Schema schema;
};

}  // namespace partita
