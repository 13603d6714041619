#include "protocol/messages/72_push_telemetry.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(PushTelemetryRequest, versions(0, 0), flexible_since(0),
    FIELD(client_instance_id, "ClientInstanceId"),
    FIELD(subscription_id, "SubscriptionId"),
    FIELD(terminating, "Terminating"),
    FIELD(compression_type, "CompressionType"),
    FIELD(metrics, "Metrics"))

PARTITA_MESSAGE(PushTelemetryResponse, versions(0, 0), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"))

PARTITA_API(push_telemetry, PushTelemetry)
// clang-format on

}  // namespace partita
