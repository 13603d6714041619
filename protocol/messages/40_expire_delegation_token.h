#pragma once

#include "protocol/schema.h"

namespace partita {

/// ExpireDelegationToken (key 40): versions 1 to 2, flexible from 2.
///
///   v2: Flexible encoding.
struct ExpireDelegationTokenRequest {
    Bytes hmac;
    std::int64_t expiry_time_period_ms = 0;

    static const Schema schema;
};

struct ExpireDelegationTokenResponse {
    ErrorCode error_code = ErrorCode::none;
    std::int64_t expiry_timestamp_ms = 0;
    std::int32_t throttle_time_ms = 0;

    static const Schema schema;
};

}  // namespace partita
