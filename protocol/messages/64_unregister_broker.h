#pragma once

#include "protocol/schema.h"

namespace partita {

/// UnregisterBroker (key 64): version 0, always flexible.
struct UnregisterBrokerRequest {
    std::int32_t broker_id = 0;

    static const Schema schema;
};

struct UnregisterBrokerResponse {
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message = "";  ///< may be null

    static const Schema schema;
};

}  // namespace partita
