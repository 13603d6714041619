#pragma once

#include "protocol/schema.h"

namespace partita {

/// AddRaftVoter (key 80): versions 0 to 1, always flexible.
///
///   v1: The request gains AckWhenCommitted.
struct AddRaftVoterRequest {
    struct Listener {
        std::string_view name;
        std::string_view host;
        std::uint16_t port = 0;

        static const Schema schema;
    };

    std::optional<std::string_view> cluster_id = "";  ///< may be null
    std::int32_t timeout_ms = 0;
    std::int32_t voter_id = 0;
    Uuid voter_directory_id;
    Array<Listener> listeners;
    bool ack_when_committed = true;  ///< v1

    static const Schema schema;
};

struct AddRaftVoterResponse {
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message = "";  ///< may be null

    static const Schema schema;
};

}  // namespace partita
