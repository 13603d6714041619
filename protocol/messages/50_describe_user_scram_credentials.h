#pragma once

#include "protocol/schema.h"

namespace partita {

/// DescribeUserScramCredentials (key 50): version 0, always flexible.
struct DescribeUserScramCredentialsRequest {
    struct UserName {
        std::string_view name;

        static const Schema schema;
    };

    Array<UserName> users;  ///< may be null

    static const Schema schema;
};

struct DescribeUserScramCredentialsResponse {
    struct CredentialInfo {
        std::int8_t mechanism = 0;
        std::int32_t iterations = 0;

        static const Schema schema;
    };

    struct DescribeUserScramCredentialsResult {
        std::string_view user;
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message = "";  ///< may be null
        Array<CredentialInfo> credential_infos;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message = "";  ///< may be null
    Array<DescribeUserScramCredentialsResult> results;

    static const Schema schema;
};

}  // namespace partita
