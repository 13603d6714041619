#pragma once

#include "protocol/schema.h"

namespace partita {

/// RenewDelegationToken (key 39): versions 1 to 2, flexible from 2.
///
///   v2: Flexible encoding.
struct RenewDelegationTokenRequest {
    Bytes hmac;
    std::int64_t renew_period_ms = 0;

    static const Schema schema;
};

struct RenewDelegationTokenResponse {
    ErrorCode error_code = ErrorCode::none;
    std::int64_t expiry_timestamp_ms = 0;
    std::int32_t throttle_time_ms = 0;

    static const Schema schema;
};

}  // namespace partita
