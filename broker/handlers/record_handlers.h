#pragma once

#include "broker/handlers/record_services.h"
#include "broker/handlers/request_context.h"

namespace partita::handlers {

/// Produce and Fetch, which need no more of a broker than this.
void produce_records(runtime::ClientRequest& context, const runtime::RecordServices& services);
void fetch_records(runtime::ClientRequest& context, const runtime::RecordServices& services);

}  // namespace partita::handlers
