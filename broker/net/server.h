#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/listeners.h"
#include "broker/net/connection_quota.h"
#include "broker/net/front.h"
#include "broker/net/held_sockets.h"
#include "broker/net/net_reactor.h"
#include "broker/net/refused_connections.h"
#include "broker/net/surroundings.h"
#include "broker/net/tls_reload.h"
#include "broker/runtime/loop/network_statistics.h"
#include "schedule/executor.h"

namespace partita::net {

/// A listening socket, as the broker reports it to people and to tests.
struct BoundListener {
    std::string name;
    std::string address;
    std::uint16_t port = 0;
};

/// The listeners of the broker, in any protocol. It opens them, accepts connections, and places these on the reactors (see
/// reactor_choice.h).
class Server final : public ConnectionObserver, public runtime::NetworkStatistics {
  public:
    Server(const Surroundings& surroundings, const Schedule& schedule, const reactor_choice::Limits& limits = {});
    ~Server() override;

    /// Binds and listens, but accepts nothing yet. `make_front` makes the protocol of each listener. The error is one line that
    /// says what to do (port taken, address not ours, no permission). A listening socket in `held` is used and taken from there,
    /// instead of a new one. Call this before a reactor runs; further calls add listeners.
    [[nodiscard]] std::expected<std::vector<BoundListener>, std::string> open(std::span<const config::Listener> listeners,
                                                                              const FrontMaker& make_front,
                                                                              HeldSockets* held = nullptr);

    /// Starts to accept connections, on the first reactor's loop. Serves the connections that an earlier server held.
    void start(std::vector<HeldConnection> held = {});
    /// Stops accepting; open connections stay open. Call this on the first reactor's thread.
    void stop_accepting();
    /// The same, but the listening sockets stay open, and clients that connect wait. `release` gives them up.
    void pause_accepting();
    /// The listening sockets, after `pause_accepting` and when no reactor runs.
    [[nodiscard]] std::vector<HeldListener> release_listeners();
    /// The connections of one reactor. Use it on that reactor's thread only.
    [[nodiscard]] NetReactor& net_reactor(std::size_t index) { return *reactors_[index]; }

    void connection_closed(const runtime::ClientConnection& client) override;

    [[nodiscard]] runtime::ConnectionCounts connections() const override { return quota_.counts(); }
    [[nodiscard]] std::int32_t connection_count() const override { return quota_.count(); }
    [[nodiscard]] std::uint64_t received_bytes() const override;
    [[nodiscard]] std::uint64_t sent_bytes() const override;

  private:
    struct Acceptor;

    [[nodiscard]] std::expected<void, std::string> open_listener(const config::Listener& listener, const FrontMaker& make_front,
                                                                 HeldSockets* held, std::vector<BoundListener>& bound);
    void adopt(HeldConnection held);
    /// Makes the settings refuse changes that a listener cannot apply.
    void object_to_settings();
    void accept(Acceptor& acceptor);
    void on_accepted(Acceptor& acceptor, Socket socket, std::size_t reactor);
    [[nodiscard]] std::shared_ptr<const runtime::ListenerView> view_of(Acceptor& acceptor,
                                                                       const boost::asio::ip::tcp::endpoint& local) const;
    void pause(Acceptor& acceptor, std::int64_t duration_ms);
    /// Makes new connections of the listener use this TLS context. Thread-safe.
    void take_tls(const std::string& listener, std::shared_ptr<const tls::ServerContext> context);
    [[nodiscard]] std::size_t reactor_for_new_connection() const;

    const Surroundings surroundings_;
    const Schedule schedule_;
    ConnectionQuota quota_;
    RequestMemory memory_;
    ReactorLoads loads_;
    const reactor_choice::Limits limits_;
    const bool gathers_;
    // Declared before the connections that use them.
    std::vector<std::unique_ptr<Front>> fronts_;
    std::vector<std::unique_ptr<NetReactor>> reactors_;
    std::vector<std::unique_ptr<Acceptor>> acceptors_;
    RefusedConnections refused_;
    bool stopping_ = false;
    std::size_t adopted_ = 0;
    // Declared last: it passes contexts to the others.
    TlsReload tls_reload_;
};

}  // namespace partita::net
