#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/listeners.h"
#include "broker/logs/placement.h"
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
    BrokerId node = kNoBroker;
    /// The port that clients are given.
    std::uint16_t advertised_port = 0;
};

/// One of several nodes in this process. Each has all listeners, at ports of its own.
struct ServedNode {
    /// kNoBroker for the only one.
    BrokerId id = kNoBroker;
    /// How far its ports are from the configured ones; a port 0 stays 0.
    std::uint16_t port_step = 0;
};

/// The listeners of the broker, in any protocol. It opens them, accepts connections, and places these on the reactors (see
/// reactor_choice.h).
class Server final : public ConnectionObserver, public runtime::NetworkStatistics, public logs::NodeDoors {
  public:
    Server(const Surroundings& surroundings, const Schedule& schedule, const reactor_choice::Limits& limits = {});
    ~Server() override;

    /// Binds and listens, but accepts nothing yet. `make_front` makes the protocol of each listener. The error is one line that
    /// says what to do (port taken, address not ours, no permission). A listening socket in `held` is used and taken from there,
    /// instead of a new one. Call this before a reactor runs; further calls add listeners, of further nodes for example.
    [[nodiscard]] std::expected<std::vector<BoundListener>, std::string> open(std::span<const config::Listener> listeners,
                                                                              const FrontMaker& make_front,
                                                                              HeldSockets* held = nullptr,
                                                                              const ServedNode& node = {});

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

    // For several nodes in this process.
    void shut(BrokerId node, std::function<void()> then) override;
    void open(BrokerId node, std::function<void(std::expected<void, std::string>)> then) override;
    void end_rests(BrokerId node) override;

    void connection_closed(const runtime::ClientConnection& client) override;

    [[nodiscard]] runtime::ConnectionCounts connections() const override { return quota_.counts(); }
    [[nodiscard]] std::int32_t connection_count() const override { return quota_.count(); }
    [[nodiscard]] std::uint64_t received_bytes() const override;
    [[nodiscard]] std::uint64_t sent_bytes() const override;

  private:
    struct Acceptor;

    [[nodiscard]] std::expected<void, std::string> open_listener(const config::Listener& listener, const FrontMaker& make_front,
                                                                 HeldSockets* held, const ServedNode& node,
                                                                 std::vector<BoundListener>& bound);
    /// Binds and listens at `port`. The error is that of the system.
    [[nodiscard]] boost::system::error_code listen(Acceptor& acceptor, std::uint16_t port) const;
    [[nodiscard]] std::expected<void, std::string> open_again(BrokerId node);
    void adopt(HeldConnection held);
    /// Makes the settings refuse changes that a listener cannot apply.
    void object_to_settings();
    void accept(Acceptor& acceptor);
    void on_accepted(Acceptor& acceptor, Socket socket, std::size_t reactor);
    [[nodiscard]] std::shared_ptr<const runtime::ListenerView> view_of(Acceptor& acceptor,
                                                                       const boost::asio::ip::tcp::endpoint& local) const;
    [[nodiscard]] config::AdvertisedAddress advertised(const Acceptor& acceptor, const std::string& here) const;
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
