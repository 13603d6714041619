#pragma once

#include "protocol/schema.h"

namespace partita {

/// PushTelemetry (key 72): version 0, always flexible.
struct PushTelemetryRequest {
    Uuid client_instance_id;
    std::int32_t subscription_id = 0;
    bool terminating = false;
    std::int8_t compression_type = 0;
    Bytes metrics;

    static const Schema schema;
};

struct PushTelemetryResponse {
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;

    static const Schema schema;
};

}  // namespace partita
