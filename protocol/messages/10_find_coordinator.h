#pragma once

#include "protocol/schema.h"

namespace partita {

/// FindCoordinator (key 10): versions 0 to 6, flexible from 3.
///
///   v1: The request gains KeyType; the response gains ThrottleTimeMs, ErrorMessage.
///   v2: No change of layout.
///   v3: Flexible encoding.
///   v4: The request gains CoordinatorKeys and loses Key; the response gains Coordinators and loses
///     ErrorCode, ErrorMessage, NodeId, Host, Port.
///   v5 to v6: No change of layout.
struct FindCoordinatorRequest {
    std::string_view key;                      ///< up to v3
    std::int8_t key_type = 0;                  ///< v1 and later
    Array<std::string_view> coordinator_keys;  ///< v4 and later

    static const Schema schema;
};

struct FindCoordinatorResponse {
    struct Coordinator {
        std::string_view key;                                ///< v4 and later
        std::int32_t node_id = 0;                            ///< v4 and later
        std::string_view host;                               ///< v4 and later
        std::int32_t port = 0;                               ///< v4 and later
        ErrorCode error_code = ErrorCode::none;              ///< v4 and later
        std::optional<std::string_view> error_message = "";  ///< v4 and later, may be null

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;                   ///< v1 and later
    ErrorCode error_code = ErrorCode::none;              ///< up to v3
    std::optional<std::string_view> error_message = "";  ///< v1 to v3, may be null
    std::int32_t node_id = 0;                            ///< up to v3
    std::string_view host;                               ///< up to v3
    std::int32_t port = 0;                               ///< up to v3
    Array<Coordinator> coordinators;                     ///< v4 and later

    static const Schema schema;
};

}  // namespace partita
