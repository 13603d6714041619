#pragma once

#include "protocol/schema.h"

namespace partita {

/// AlterUserScramCredentials (key 51): version 0, always flexible.
struct AlterUserScramCredentialsRequest {
    struct ScramCredentialDeletion {
        std::string_view name;
        std::int8_t mechanism = 0;

        static const Schema schema;
    };

    struct ScramCredentialUpsertion {
        std::string_view name;
        std::int8_t mechanism = 0;
        std::int32_t iterations = 0;
        Bytes salt;
        Bytes salted_password;

        static const Schema schema;
    };

    Array<ScramCredentialDeletion> deletions;
    Array<ScramCredentialUpsertion> upsertions;

    static const Schema schema;
};

struct AlterUserScramCredentialsResponse {
    struct AlterUserScramCredentialsResult {
        std::string_view user;
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message = "";  ///< may be null

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<AlterUserScramCredentialsResult> results;

    static const Schema schema;
};

}  // namespace partita
