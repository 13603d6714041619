#include "protocol/messages/40_expire_delegation_token.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(ExpireDelegationTokenRequest, versions(1, 2), flexible_since(2),
    FIELD(hmac, "Hmac"),
    FIELD(expiry_time_period_ms, "ExpiryTimePeriodMs"))

PARTITA_MESSAGE(ExpireDelegationTokenResponse, versions(1, 2), flexible_since(2),
    FIELD(error_code, "ErrorCode"),
    FIELD(expiry_timestamp_ms, "ExpiryTimestampMs"),
    FIELD(throttle_time_ms, "ThrottleTimeMs"))

PARTITA_API(expire_delegation_token, ExpireDelegationToken)
// clang-format on

}  // namespace partita
