#pragma once

#include "protocol/schema.h"

namespace partita {

/// CreateDelegationToken (key 38): versions 1 to 3, flexible from 2.
///
///   v2: Flexible encoding.
///   v3: The request gains OwnerPrincipalType, OwnerPrincipalName; the response gains
///     TokenRequesterPrincipalType, TokenRequesterPrincipalName.
struct CreateDelegationTokenRequest {
    struct CreatableRenewers {
        std::string_view principal_type;
        std::string_view principal_name;

        static const Schema schema;
    };

    std::optional<std::string_view> owner_principal_type = "";  ///< v3, may be null
    std::optional<std::string_view> owner_principal_name = "";  ///< v3, may be null
    Array<CreatableRenewers> renewers;
    std::int64_t max_lifetime_ms = 0;

    static const Schema schema;
};

struct CreateDelegationTokenResponse {
    ErrorCode error_code = ErrorCode::none;
    std::string_view principal_type;
    std::string_view principal_name;
    std::string_view token_requester_principal_type;  ///< v3
    std::string_view token_requester_principal_name;  ///< v3
    std::int64_t issue_timestamp_ms = 0;
    std::int64_t expiry_timestamp_ms = 0;
    std::int64_t max_timestamp_ms = 0;
    std::string_view token_id;
    Bytes hmac;
    std::int32_t throttle_time_ms = 0;

    static const Schema schema;
};

}  // namespace partita
