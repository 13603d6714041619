#include "protocol/messages/71_get_telemetry_subscriptions.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(GetTelemetrySubscriptionsRequest, versions(0, 0), flexible_since(0),
    FIELD(client_instance_id, "ClientInstanceId"))

PARTITA_MESSAGE(GetTelemetrySubscriptionsResponse, versions(0, 0), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(client_instance_id, "ClientInstanceId"),
    FIELD(subscription_id, "SubscriptionId"),
    FIELD(accepted_compression_types, "AcceptedCompressionTypes"),
    FIELD(push_interval_ms, "PushIntervalMs"),
    FIELD(telemetry_max_bytes, "TelemetryMaxBytes"),
    FIELD(delta_temporality, "DeltaTemporality"),
    FIELD(requested_metrics, "RequestedMetrics"))

PARTITA_API(get_telemetry_subscriptions, GetTelemetrySubscriptions)
// clang-format on

}  // namespace partita
