#pragma once

#include "broker/handlers/request_context.h"

namespace partita::handlers {

/// True if the broker serves KIP-848 consumer groups: `group.coordinator.rebalance.protocols` includes "consumer", and the
/// cluster has group.version 1. Otherwise it answers their requests with UNSUPPORTED_VERSION, as Kafka does.
[[nodiscard]] bool consumer_protocol_is_enabled(runtime::RequestContext& context);

}  // namespace partita::handlers
