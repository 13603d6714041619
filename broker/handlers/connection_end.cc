#include "broker/handlers/connection_end.h"

#include <memory>
#include <string>

#include "broker/handlers/services.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/fences/topic_expansion.h"
#include "broker/runtime/insight/key_observer.h"
#include "broker/runtime/loop/counters.h"
#include "broker/runtime/loop/failure_log.h"

namespace partita::handlers {

void connection_closed(runtime::Services& services, const runtime::ClientConnection& client) {
    const bool is_known = client.noted_producer || client.noted_consumer || client.noted_member != 0;
    if (!is_known) {
        return;
    }
    if (client.expansions) {
        for (const std::weak_ptr<runtime::TopicExpansion>& told : *client.expansions) {
            if (const std::shared_ptr<runtime::TopicExpansion> expansion = told.lock()) {
                expansion->on_connection_closed(client.id);
            }
        }
    }
    if (client.noted_producer) {
        services.keys.samples().connection_closed(client.id);
    }
    services.connections.closed(client.id);
}

void log_closed_connection(runtime::Services& services, const runtime::ClientConnection& client, std::string_view reason) {
    services.counters.closed_for_bad_input.fetch_add(1, std::memory_order_relaxed);
    services.failures.connection_closed(client.host + ":" + std::to_string(client.port), client.listener->name, reason);
}

}  // namespace partita::handlers
