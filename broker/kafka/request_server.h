#pragma once

#include "broker/handlers/request_context.h"

namespace partita::kafka {

/// Serves Kafka's requests after their header was parsed and their client was authenticated. This broker's own handlers implement
/// it; another cluster behind this broker could do so, too. Threads of all reactors call it concurrently.
class RequestServer {
  public:
    virtual ~RequestServer() = default;
    /// Serves one request, as RequestContext requires: it replies, defers, parks or closes before it returns.
    virtual void serve(runtime::RequestContext& context) = 0;
};

/// The handlers of this broker (broker/handlers). There is one for the whole process, because it has no state.
[[nodiscard]] RequestServer& local_handlers();

}  // namespace partita::kafka
