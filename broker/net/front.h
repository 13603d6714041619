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

/// A protocol's state for one connection: a login in progress, for example. It moves with the connection to another reactor, and
/// only the reactor's thread calls it.
class ProtocolState {
  public:
    virtual ~ProtocolState() = default;
    /// False until the protocol has identified the client. Until then the client waits among the pending logins, and its
    /// certificate, if it has one, does not identify it.
    [[nodiscard]] virtual bool knows_client() const = 0;
};

/// One side of a conversation: the client, and the destination of the replies.
struct Speaker {
    runtime::ClientConnection& client;
    Conversation& conversation;
    /// The front's state for this connection; null if it has none.
    ProtocolState* state = nullptr;
    /// The connection's id in its reactor, as a ReplyTarget names it.
    std::uint64_t receiver = 0;
};

/// The outcome of the next request.
struct Served {
    enum class Outcome : std::uint8_t {
        nothing,    ///< No whole request was received.
        replied,    ///< `reply` is the reply.
        deferred,   ///< The reply comes later. The connection serves the following requests meanwhile.
        parked,     ///< The reply comes later. The connection serves no following request before it.
        postponed,  ///< The request was given back, and the connection serves none before `rests_until`.
        silenced,   ///< No reply comes, and the connection serves no following request.
        ended,      ///< The connection ends with `reply`, after `rest_ms` and after earlier replies were sent.
        refused,    ///< The connection ends at once, and earlier replies are dropped.
    };

    Outcome outcome = Outcome::nothing;
    /// The request's slot in its conversation; unused for `nothing`, `postponed` and `refused`.
    std::uint64_t slot = 0;
    /// Set after `replied`, and after `ended`, where it may be empty.
    runtime::Reply reply;
    /// How long the connection serves no request from now on, or, after `ended`, how long its end waits. A reply has its own rest
    /// time.
    std::int64_t rest_ms = 0;
    /// Set after `postponed`, by the machine's clock; kNever waits for Connection::end_rest.
    Instant rests_until{};
    /// The reason for the end of the connection, for the log; set after `ended` and `refused`.
    std::string reason;
};

/// The protocol of a listener: how received bytes are cut into requests, what serves them, and how a client is refused. The
/// server has one front for each listener. Connections, reactors and transports know nothing else about the protocol that they
/// carry.
///
/// A request costs one call of `serve_next`, plus a final call that finds no further request. The fronts outlive the connections.
/// Threads of all reactors call a front concurrently, each for its own connections.
class Front {
  public:
    virtual ~Front() = default;

    /// Makes the state for a new connection; null if the front needs none, so that the client may send requests at once.
    [[nodiscard]] virtual std::unique_ptr<ProtocolState> begin() = 0;
    /// Takes the next request of the conversation (`Conversation::next_request` delimits it) and has it served. Called only while
    /// the conversation may serve.
    [[nodiscard]] virtual Served serve_next(logs::Turn& turn, const Speaker& speaker) = 0;
    /// Receives each reply that has notes, or that makes its client rest, when it takes its slot.
    virtual void replied(const runtime::ClientConnection& client, const runtime::Reply& reply) = 0;
    /// Called for each connection that ends, on the thread of its reactor.
    virtual void closed(const runtime::ClientConnection& client) = 0;
    /// A function that checks changes of the broker's settings for this listener; empty if the listener accepts all. The function
    /// must not use the front, which may be gone when it is called.
    [[nodiscard]] virtual config::CurrentConfig::Objection objection() const { return {}; }
};

/// Makes the front of a listener before its socket is bound. The error is one line that says what to change.
using FrontMaker = std::function<std::expected<std::unique_ptr<Front>, std::string>(const config::Endpoint& listener)>;

}  // namespace partita::net
