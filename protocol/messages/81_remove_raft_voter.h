#pragma once

#include "protocol/schema.h"

namespace partita {

/// RemoveRaftVoter (key 81): version 0, always flexible.
struct RemoveRaftVoterRequest {
    std::optional<std::string_view> cluster_id = "";  ///< may be null
    std::int32_t voter_id = 0;
    Uuid voter_directory_id;

    static const Schema schema;
};

struct RemoveRaftVoterResponse {
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message = "";  ///< may be null

    static const Schema schema;
};

}  // namespace partita
