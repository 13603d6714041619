#include "protocol/messages/38_create_delegation_token.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(CreateDelegationTokenRequest::CreatableRenewers,
    FIELD(principal_type, "PrincipalType"),
    FIELD(principal_name, "PrincipalName"))

PARTITA_MESSAGE(CreateDelegationTokenRequest, versions(1, 3), flexible_since(2),
    FIELD(owner_principal_type, "OwnerPrincipalType", since(3), nullable()),
    FIELD(owner_principal_name, "OwnerPrincipalName", since(3), nullable()),
    FIELD(renewers, "Renewers"),
    FIELD(max_lifetime_ms, "MaxLifetimeMs"))

PARTITA_MESSAGE(CreateDelegationTokenResponse, versions(1, 3), flexible_since(2),
    FIELD(error_code, "ErrorCode"),
    FIELD(principal_type, "PrincipalType"),
    FIELD(principal_name, "PrincipalName"),
    FIELD(token_requester_principal_type, "TokenRequesterPrincipalType", since(3)),
    FIELD(token_requester_principal_name, "TokenRequesterPrincipalName", since(3)),
    FIELD(issue_timestamp_ms, "IssueTimestampMs"),
    FIELD(expiry_timestamp_ms, "ExpiryTimestampMs"),
    FIELD(max_timestamp_ms, "MaxTimestampMs"),
    FIELD(token_id, "TokenId"),
    FIELD(hmac, "Hmac"),
    FIELD(throttle_time_ms, "ThrottleTimeMs"))

PARTITA_API(create_delegation_token, CreateDelegationToken)
// clang-format on

}  // namespace partita
