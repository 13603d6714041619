#pragma once

#include "broker/handlers/record_services.h"
#include "broker/handlers/request_context.h"

namespace partita::handlers {

/// The handlers of Produce and Fetch. They need only these services of the broker.
void produce_records(runtime::ClientRequest& context, const runtime::RecordServices& services);
void fetch_records(runtime::ClientRequest& context, const runtime::RecordServices& services);

}  // namespace partita::handlers
