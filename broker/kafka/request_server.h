#pragma once

#include "broker/handlers/request_context.h"

namespace partita::kafka {

/// Serves Kafka's requests once their header was read and their client may ask: this broker's own handlers do, and another
/// cluster behind this broker could. Threads of all reactors call it at the same time.
class RequestServer {
  public:
    virtual ~RequestServer() = default;
    /// Serves one request, as RequestContext says: it replies, defers, parks or closes before it returns.
    virtual void serve(runtime::RequestContext& context) = 0;
};

/// The handlers of this broker (broker/handlers). There is one for the whole process, because it has no state.
[[nodiscard]] RequestServer& local_handlers();

}  // namespace partita::kafka
