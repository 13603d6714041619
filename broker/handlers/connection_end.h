#pragma once

#include "broker/handlers/services.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/loop/reply.h"

namespace partita::handlers {

/// Makes every part that knows the connection forget it. The server calls this once for each connection that it has served, on
/// the thread of the connection's reactor.
void connection_closed(const runtime::Services& services, const runtime::ClientConnection& client);

/// Reports a reply that goes to the client to RequestWatch: its errors, its latency, and how long a quota makes the client wait.
void note_reply(const runtime::CommonServices& services, const runtime::ClientConnection& client, const runtime::Reply& reply);

}  // namespace partita::handlers
