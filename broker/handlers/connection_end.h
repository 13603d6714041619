#pragma once

#include "broker/handlers/services.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/loop/reply.h"

namespace partita::handlers {

/// Makes every part that knows the connection forget it. The server calls this once for each connection that it has served, on
/// the thread of the connection's reactor.
void connection_closed(runtime::Services& services, const runtime::ClientConnection& client);

/// Has RequestWatch know what is to be known of a reply that goes to the client: its errors, the time it took, and for how long
/// the client has to wait because of a quota.
void note_reply(runtime::Services& services, const runtime::ClientConnection& client, const runtime::Reply& reply);

}  // namespace partita::handlers
