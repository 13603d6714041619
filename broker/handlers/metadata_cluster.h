#pragma once

#include "broker/handlers/request_context.h"
#include "protocol/messages/03_metadata.h"

namespace partita::handlers {

/// Fills in the brokers with their addresses, the controller and the cluster's id. They live as long as the request.
void tell_cluster(runtime::RequestContext& context, MetadataResponse& response);

}  // namespace partita::handlers
