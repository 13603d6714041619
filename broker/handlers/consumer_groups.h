#pragma once

#include "broker/handlers/request_context.h"

namespace partita::handlers {

/// True when consumer groups of KIP-848 are served: `group.coordinator.rebalance.protocols` names "consumer", and the cluster has
/// group.version 1. Otherwise Kafka answers their requests with UNSUPPORTED_VERSION.
[[nodiscard]] bool consumer_protocol_is_enabled(runtime::RequestContext& context);

}  // namespace partita::handlers
