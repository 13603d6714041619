#include "broker/http/local_client.h"

#include <memory>

#include "broker/handlers/connection_end.h"
#include "broker/handlers/services.h"
#include "broker/runtime/clients/connections.h"
#include "schedule/clock.h"

namespace partita::http {

LocalClient::LocalClient(const runtime::Services& services, const Caller& caller) : services_(services) {
    connection_.id = services.connections.next_id();
    connection_.born = services.clock.now().wall;
    connection_.listener = std::make_shared<runtime::ListenerView>(runtime::ListenerView{.name = "HTTP"});
    connection_.session = caller.session;
    connection_.host = "/" + caller.address;
}

LocalClient::~LocalClient() { handlers::connection_closed(services_, connection_); }

}  // namespace partita::http
