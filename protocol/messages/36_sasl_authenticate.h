#pragma once

#include "protocol/schema.h"

namespace partita {

/// SaslAuthenticate (key 36): versions 0 to 2, flexible from 2.
///
///   v1: The response gains SessionLifetimeMs.
///   v2: Flexible encoding.
struct SaslAuthenticateRequest {
    Bytes auth_bytes;

    static const Schema schema;
};

struct SaslAuthenticateResponse {
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message = "";  ///< may be null
    Bytes auth_bytes;
    std::int64_t session_lifetime_ms = 0;  ///< v1 and later

    static const Schema schema;
};

}  // namespace partita
