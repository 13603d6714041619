#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string_view>

#include "broker/net/connection.h"
#include "broker/net/front.h"
#include "broker/net/pending_logins.h"
#include "broker/net/socket.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/tls/server_context.h"
#include "protocol/types.h"

namespace partita::net {

class NetReactor;

/// An accepted connection, and the demands of its listener before the client's first request.
struct Newcomer {
    Socket socket;
    runtime::ClientConnection client;
    /// The protocol of the listener. Never null.
    Front* front = nullptr;
    /// The front's state for the connection; may be null.
    std::unique_ptr<ProtocolState> state;
    /// Null without TLS.
    std::shared_ptr<const tls::ServerContext> tls;
};

/// The clients of one reactor with a TLS handshake in progress. They have no Connection yet: the reactor reads no frame of an
/// unknown client, and plain connections need no memory for TLS. A complete handshake gives its reactor a connection. For any
/// other end the reactor receives the reason. The reactor's `PendingLogins` limits the time and the number of handshakes.
///
/// Only the reactor's thread calls it.
class TlsHandshakes {
  public:
    explicit TlsHandshakes(NetReactor& owner) : owner_(owner) {}
    ~TlsHandshakes();
    TlsHandshakes(const TlsHandshakes&) = delete;
    TlsHandshakes& operator=(const TlsHandshakes&) = delete;

    /// `newcomer.tls` must not be null.
    void begin(Newcomer newcomer, Instant now);
    void end_all();
    /// Ends those of clients that asked this node.
    void end_node(BrokerId node);

    [[nodiscard]] std::size_t count() const { return waiting_.size(); }

  private:
    struct Handshake;
    using Waiting = std::list<std::shared_ptr<Handshake>>;

    void go_on(const std::shared_ptr<Handshake>& handshake);
    void wait(const std::shared_ptr<Handshake>& handshake, Socket::wait_type what);
    void complete(const std::shared_ptr<Handshake>& handshake);
    /// An empty reason means that the client went away.
    void end(const std::shared_ptr<Handshake>& handshake, std::string_view reason);

    NetReactor& owner_;
    Waiting waiting_;
};

}  // namespace partita::net
