#include "broker/net/surroundings.h"

#include <string>

#include "broker/runtime/clients/request_watch.h"
#include "broker/runtime/loop/counters.h"
#include "broker/runtime/loop/failure_log.h"
#include "schedule/clock.h"

namespace partita::net {

void log_closed_connection(const Surroundings& surroundings, const runtime::ClientConnection& client, std::string_view reason) {
    surroundings.counters.closed_for_bad_input.fetch_add(1, std::memory_order_relaxed);
    surroundings.requests.note_closed(client, reason, surroundings.clock.now().wall);
    surroundings.failures.connection_closed(client.host + ":" + std::to_string(client.port), client.listener->name, reason);
}

}  // namespace partita::net
