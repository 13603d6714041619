#pragma once

#include <string_view>

#include "broker/handlers/services.h"
#include "broker/runtime/clients/client_connection.h"

namespace partita::handlers {

/// Everybody who knows the connection forgets it. From the thread of its reactor, once for each that was accepted.
void connection_closed(runtime::Services& services, const runtime::ClientConnection& client);

/// Counts a connection that the broker closes because of what its client did, and says so in the log.
void log_closed_connection(runtime::Services& services, const runtime::ClientConnection& client, std::string_view reason);

}  // namespace partita::handlers
