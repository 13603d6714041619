#include "broker/kafka/request_server.h"

#include "broker/handlers/registry.h"

namespace partita::kafka {
namespace {

class LocalHandlers final : public RequestServer {
  public:
    void serve(runtime::RequestContext& context) override { handlers::dispatch(context); }
};

}  // namespace

RequestServer& local_handlers() {
    static LocalHandlers handlers;
    return handlers;
}

}  // namespace partita::kafka
