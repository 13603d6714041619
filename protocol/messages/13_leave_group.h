#pragma once

#include "protocol/schema.h"

namespace partita {

/// LeaveGroup (key 13): versions 0 to 5, flexible from 4.
///
///   v1: The response gains ThrottleTimeMs.
///   v2: No change of layout.
///   v3: The request gains Members and loses MemberId; the response gains Members.
///   v4: Flexible encoding.
///   v5: The request gains Reason.
struct LeaveGroupRequest {
    struct MemberIdentity {
        std::string_view member_id;                         ///< v3 and later
        std::optional<std::string_view> group_instance_id;  ///< v3 and later, may be null
        std::optional<std::string_view> reason;             ///< v5, may be null

        static const Schema schema;
    };

    std::string_view group_id;
    std::string_view member_id;     ///< up to v2
    Array<MemberIdentity> members;  ///< v3 and later

    static const Schema schema;
};

struct LeaveGroupResponse {
    struct MemberResponse {
        std::string_view member_id;                              ///< v3 and later
        std::optional<std::string_view> group_instance_id = "";  ///< v3 and later, may be null
        ErrorCode error_code = ErrorCode::none;                  ///< v3 and later

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;  ///< v1 and later
    ErrorCode error_code = ErrorCode::none;
    Array<MemberResponse> members;  ///< v3 and later

    static const Schema schema;
};

}  // namespace partita
