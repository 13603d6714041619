#include "protocol/messages/39_renew_delegation_token.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(RenewDelegationTokenRequest, versions(1, 2), flexible_since(2),
    FIELD(hmac, "Hmac"),
    FIELD(renew_period_ms, "RenewPeriodMs"))

PARTITA_MESSAGE(RenewDelegationTokenResponse, versions(1, 2), flexible_since(2),
    FIELD(error_code, "ErrorCode"),
    FIELD(expiry_timestamp_ms, "ExpiryTimestampMs"),
    FIELD(throttle_time_ms, "ThrottleTimeMs"))

PARTITA_API(renew_delegation_token, RenewDelegationToken)
// clang-format on

}  // namespace partita
