#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string_view>

#include "broker/net/anteroom.h"
#include "broker/net/connection.h"
#include "broker/net/front.h"
#include "broker/net/socket.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/tls/server_context.h"
#include "protocol/types.h"

namespace partita::net {

class NetReactor;

/// A connection that was accepted, and what its listener asks of the client before its first request.
struct Newcomer {
    Socket socket;
    runtime::ClientConnection client;
    /// What the listener speaks. Never null.
    Front* front = nullptr;
    /// What the front keeps for the connection; may be null.
    std::unique_ptr<ProtocolState> state;
    /// Null without TLS.
    std::shared_ptr<const tls::ServerContext> tls;
};

/// Clients of one reactor whose TLS handshake is under way. They have no Connection yet: no frame is read of whom it is not
/// known, and connections without TLS are no larger for those with it. A handshake that is complete gives its reactor a
/// connection; of the others the reactor hears why they ended. The reactor's anteroom says for how long one may take, and how
/// many there may be.
///
/// Only the reactor's thread calls it.
class TlsHandshakes {
  public:
    explicit TlsHandshakes(NetReactor& owner) : owner_(owner) {}
    ~TlsHandshakes();
    TlsHandshakes(const TlsHandshakes&) = delete;
    TlsHandshakes& operator=(const TlsHandshakes&) = delete;

    /// `newcomer.tls` is not null.
    void begin(Newcomer newcomer, Instant now);
    void end_all();

    [[nodiscard]] std::size_t count() const { return waiting_.size(); }

  private:
    struct Handshake;
    using Waiting = std::list<std::shared_ptr<Handshake>>;

    void go_on(const std::shared_ptr<Handshake>& handshake);
    void wait(const std::shared_ptr<Handshake>& handshake, Socket::wait_type what);
    void complete(const std::shared_ptr<Handshake>& handshake);
    /// An empty reason: the client went away.
    void end(const std::shared_ptr<Handshake>& handshake, std::string_view reason);

    NetReactor& owner_;
    Waiting waiting_;
};

}  // namespace partita::net
