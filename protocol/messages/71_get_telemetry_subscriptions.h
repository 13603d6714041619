#pragma once

#include "protocol/schema.h"

namespace partita {

/// GetTelemetrySubscriptions (key 71): version 0, always flexible.
struct GetTelemetrySubscriptionsRequest {
    Uuid client_instance_id;

    static const Schema schema;
};

struct GetTelemetrySubscriptionsResponse {
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    Uuid client_instance_id;
    std::int32_t subscription_id = 0;
    Array<std::int8_t> accepted_compression_types;
    std::int32_t push_interval_ms = 0;
    std::int32_t telemetry_max_bytes = 0;
    bool delta_temporality = false;
    Array<std::string_view> requested_metrics;

    static const Schema schema;
};

}  // namespace partita
