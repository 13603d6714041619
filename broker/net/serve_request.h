#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "broker/logs/turn.h"
#include "broker/net/conversation.h"
#include "broker/net/login_requests.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/loop/reactor.h"

namespace partita::runtime {
struct Services;
}

namespace partita::net {

/// One side of a conversation: who speaks, and where the replies go.
struct Speaker {
    runtime::ClientConnection& client;
    Conversation& conversation;
    runtime::ReplyReceiver& replies;
    /// The id of `replies` with its reactor, which names it to whoever answers later.
    std::uint64_t receiver = 0;
    /// How the client logs in; null on a listener without SASL.
    authentication::LoginExchange* login = nullptr;
};

/// What became of a request.
struct Served {
    /// How long the conversation rests because of a request whose reply comes later (mostly 0).
    std::int32_t rest_ms = 0;
    /// Mostly null. The conversation serves nothing any more, and rests until its slot is filled with this.
    std::unique_ptr<HeldReply> held;
};

/// Has one request of the conversation served by its handler, and does to the conversation what follows: its slot is filled, or
/// the request parks it, or it is the last that is served. The connection calls this on its reactor's thread. The error
/// closes the connection at once, with a reason for the log. Of a client that has to log in only what belongs to that is served.
[[nodiscard]] std::expected<Served, std::string> serve_request(runtime::Services& services, runtime::Turn& turn,
                                                               const Speaker& speaker, const Conversation::Request& request);

}  // namespace partita::net
