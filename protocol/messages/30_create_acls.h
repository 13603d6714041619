#pragma once

#include "protocol/schema.h"

namespace partita {

/// CreateAcls (key 30): versions 1 to 3, flexible from 2.
///
///   v2: Flexible encoding.
///   v3: No change of layout.
struct CreateAclsRequest {
    struct AclCreation {
        std::int8_t resource_type = 0;
        std::string_view resource_name;
        std::int8_t resource_pattern_type = 3;
        std::string_view principal;
        std::string_view host;
        std::int8_t operation = 0;
        std::int8_t permission_type = 0;

        static const Schema schema;
    };

    Array<AclCreation> creations;

    static const Schema schema;
};

struct CreateAclsResponse {
    struct AclCreationResult {
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message = "";  ///< may be null

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<AclCreationResult> results;

    static const Schema schema;
};

}  // namespace partita
