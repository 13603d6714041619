#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "broker/config/current_config.h"
#include "broker/config/listeners.h"
#include "broker/net/conversation.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/loop/reply.h"

namespace partita::logs {
class Turn;
}

namespace partita::net {

/// What a protocol keeps for one connection: a login under way, for example. It moves with the connection to another reactor, and
/// only the reactor's thread calls it.
class ProtocolState {
  public:
    virtual ~ProtocolState() = default;
    /// False while the protocol has not found out who the client is. Until then the client waits in the anteroom, and its
    /// certificate, if it has one, does not name it.
    [[nodiscard]] virtual bool knows_client() const = 0;
};

/// One side of a conversation: who speaks, and where the replies go.
struct Speaker {
    runtime::ClientConnection& client;
    Conversation& conversation;
    /// What the front made for this connection; null when it made nothing.
    ProtocolState* state = nullptr;
    /// The connection's id with its reactor, which names it in a ReplyTarget.
    std::uint64_t receiver = 0;
};

/// What became of the next request.
struct Served {
    enum class Outcome : std::uint8_t {
        nothing,   ///< No whole request was received.
        replied,   ///< `reply` is the reply.
        deferred,  ///< Somebody delivers the reply later. The requests behind this one are served meanwhile.
        parked,    ///< Somebody delivers the reply later, and no request behind this one is served before.
        ended,     ///< The connection ends with `reply`, once `rest_ms` have passed and earlier replies were sent.
        refused,   ///< The connection ends at once, and earlier replies are dropped.
    };

    Outcome outcome = Outcome::nothing;
    /// The slot of the request in its conversation; of no consequence for `nothing` and `refused`.
    std::uint64_t slot = 0;
    /// After `replied`, and after `ended`, where it may be empty.
    runtime::Reply reply;
    /// For how long the connection serves no request from now on, or how long its end waits. The rest of a reply is in the reply.
    std::int64_t rest_ms = 0;
    /// Why the connection ends, for the log; after `ended` and `refused`.
    std::string reason;
};

/// What a listener speaks: how received bytes are cut into requests, who serves them, and how a client is refused. The server has
/// one front for each listener; connections, reactors and transports know nothing else of the protocol that they carry.
///
/// A request costs one call of `serve_next`; the call that finds no further one is another. The fronts outlive the connections.
/// Threads of all reactors call a front at the same time, each for its own connections.
class Front {
  public:
    virtual ~Front() = default;

    /// What the front keeps for a new connection; null when it keeps nothing, so that the client may speak at once.
    [[nodiscard]] virtual std::unique_ptr<ProtocolState> begin() = 0;
    /// Takes the next request of the conversation (`Conversation::next_request` cuts it) and has it served. Called while the
    /// conversation may serve.
    [[nodiscard]] virtual Served serve_next(logs::Turn& turn, const Speaker& speaker) = 0;
    /// Hears of a reply that has notes, or makes its client rest, when it takes its slot.
    virtual void replied(const runtime::ClientConnection& client, const runtime::Reply& reply) = 0;
    /// Hears of each connection that ends, on the thread of its reactor.
    virtual void closed(const runtime::ClientConnection& client) = 0;
    /// What this listener has against a change of the broker's settings; empty when it never has anything. The function must not
    /// use the front, which may be gone when it is called.
    [[nodiscard]] virtual config::CurrentConfig::Objection objection() const { return {}; }
};

/// Makes the front of a listener before its socket is bound. The error is one line that says what to change.
using FrontMaker = std::function<std::expected<std::unique_ptr<Front>, std::string>(const config::Endpoint& listener)>;

}  // namespace partita::net
