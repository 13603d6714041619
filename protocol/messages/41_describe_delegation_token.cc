#include "protocol/messages/41_describe_delegation_token.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(DescribeDelegationTokenRequest::DescribeDelegationTokenOwner,
    FIELD(principal_type, "PrincipalType"),
    FIELD(principal_name, "PrincipalName"))

PARTITA_MESSAGE(DescribeDelegationTokenRequest, versions(1, 3), flexible_since(2),
    FIELD(owners, "Owners", nullable()))

PARTITA_STRUCT(DescribeDelegationTokenResponse::DescribedDelegationTokenRenewer,
    FIELD(principal_type, "PrincipalType"),
    FIELD(principal_name, "PrincipalName"))

PARTITA_STRUCT(DescribeDelegationTokenResponse::DescribedDelegationToken,
    FIELD(principal_type, "PrincipalType"),
    FIELD(principal_name, "PrincipalName"),
    FIELD(token_requester_principal_type, "TokenRequesterPrincipalType", since(3)),
    FIELD(token_requester_principal_name, "TokenRequesterPrincipalName", since(3)),
    FIELD(issue_timestamp, "IssueTimestamp"),
    FIELD(expiry_timestamp, "ExpiryTimestamp"),
    FIELD(max_timestamp, "MaxTimestamp"),
    FIELD(token_id, "TokenId"),
    FIELD(hmac, "Hmac"),
    FIELD(renewers, "Renewers"))

PARTITA_MESSAGE(DescribeDelegationTokenResponse, versions(1, 3), flexible_since(2),
    FIELD(error_code, "ErrorCode"),
    FIELD(tokens, "Tokens"),
    FIELD(throttle_time_ms, "ThrottleTimeMs"))

PARTITA_API(describe_delegation_token, DescribeDelegationToken)
// clang-format on

}  // namespace partita
