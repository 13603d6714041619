#pragma once

#include "protocol/schema.h"

namespace partita {

/// DescribeDelegationToken (key 41): versions 1 to 3, flexible from 2.
///
///   v2: Flexible encoding.
///   v3: The response gains TokenRequesterPrincipalType, TokenRequesterPrincipalName.
struct DescribeDelegationTokenRequest {
    struct DescribeDelegationTokenOwner {
        std::string_view principal_type;
        std::string_view principal_name;

        static const Schema schema;
    };

    Array<DescribeDelegationTokenOwner> owners;  ///< may be null

    static const Schema schema;
};

struct DescribeDelegationTokenResponse {
    struct DescribedDelegationTokenRenewer {
        std::string_view principal_type;
        std::string_view principal_name;

        static const Schema schema;
    };

    struct DescribedDelegationToken {
        std::string_view principal_type;
        std::string_view principal_name;
        std::string_view token_requester_principal_type;  ///< v3
        std::string_view token_requester_principal_name;  ///< v3
        std::int64_t issue_timestamp = 0;
        std::int64_t expiry_timestamp = 0;
        std::int64_t max_timestamp = 0;
        std::string_view token_id;
        Bytes hmac;
        Array<DescribedDelegationTokenRenewer> renewers;

        static const Schema schema;
    };

    ErrorCode error_code = ErrorCode::none;
    Array<DescribedDelegationToken> tokens;
    std::int32_t throttle_time_ms = 0;

    static const Schema schema;
};

}  // namespace partita
