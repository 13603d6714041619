#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/catalog/client_rates.h"
#include "broker/config/broker_config.h"
#include "broker/net/net_reactor.h"
#include "broker/net/refused_connections.h"
#include "broker/net/tls_reload.h"
#include "broker/runtime/loop/network_statistics.h"
#include "protocol/mutex.h"
#include "schedule/executor.h"

namespace partita::net {

/// Counts connections against `max.connections`, `max.connections.per.ip` and its overrides. Thread-safe.
class ConnectionQuota {
  public:
    /// `descriptors_for_connections` is the number of connections beyond which no file descriptors would be left for log files.
    ConnectionQuota(std::shared_ptr<const config::BrokerConfig> config, std::size_t descriptors_for_connections);

    /// Takes the limits of `config` from now on. Connections beyond them live on, as in Kafka.
    void follow(std::shared_ptr<const config::BrokerConfig> config);

    enum class Decision : std::uint8_t { accepted, too_many_from_address };
    /// Counts a connection from `address` (numeric) unless its address has too many.
    [[nodiscard]] Decision open(const std::string& address);
    void close(const std::string& address);
    /// Counts a new connection against `max.connection.creation.rate` (KIP-612). Returns for how many milliseconds the acceptor
    /// has to leave it alone and accept no other; 0 when the rate is kept.
    [[nodiscard]] std::int64_t arrive(Instant now);
    /// False while `max.connections` are open, or as many as there are descriptors for. The server then accepts nothing (as in
    /// Kafka, whose acceptor waits).
    [[nodiscard]] bool has_room() const;
    /// True when there is no room because the process may not open more files.
    [[nodiscard]] bool lacks_descriptors() const;
    [[nodiscard]] std::int32_t count() const;
    [[nodiscard]] runtime::ConnectionCounts counts() const;

  private:
    [[nodiscard]] std::int32_t limit_of(const std::string& address) const REQUIRES(mutex_);

    const std::int32_t max_by_descriptors_;
    mutable Mutex mutex_{LockRank::connection_quota};
    std::shared_ptr<const config::BrokerConfig> config_ GUARDED_BY(mutex_);
    catalog::ClientRates arrivals_ GUARDED_BY(mutex_);
    std::unordered_map<std::string, std::int32_t> per_address_ GUARDED_BY(mutex_);
    std::int32_t total_ GUARDED_BY(mutex_) = 0;
    std::uint64_t opened_ GUARDED_BY(mutex_) = 0;
};

/// A listening socket, as the broker names it to people and to tests.
struct BoundListener {
    std::string name;
    std::string address;
    std::uint16_t port = 0;
};

/// The Kafka listeners of the broker. It opens them, accepts connections, and places these on the reactors (see
/// reactor_choice.h).
class Server final : public ConnectionObserver, public runtime::NetworkStatistics {
  public:
    explicit Server(runtime::Services& services, const Schedule& schedule, const reactor_choice::Limits& limits = {});
    ~Server() override;

    /// Binds and listens, but accepts nothing yet. The error is one line that says what to do (port taken, address not ours, no
    /// permission).
    [[nodiscard]] std::expected<std::vector<BoundListener>, std::string> open();

    /// Begins to accept connections, on the first reactor's loop.
    void start();
    /// Stops accepting; open connections live on. Call it on the first reactor's thread.
    void stop_accepting();
    /// The connections of one reactor. Use it on that reactor's thread only.
    [[nodiscard]] NetReactor& net_reactor(std::size_t index) { return *reactors_[index]; }

    void connection_closed(const runtime::ClientConnection& client) override;

    [[nodiscard]] runtime::ConnectionCounts connections() const override { return quota_.counts(); }
    [[nodiscard]] std::int32_t connection_count() const override { return quota_.count(); }
    [[nodiscard]] std::uint64_t received_bytes() const override;
    [[nodiscard]] std::uint64_t sent_bytes() const override;

  private:
    struct Acceptor;

    [[nodiscard]] std::expected<void, std::string> open_listener(const config::Listener& listener,
                                                                 std::vector<BoundListener>& bound);
    void accept(Acceptor& acceptor);
    void on_accepted(Acceptor& acceptor, Socket socket, std::size_t reactor);
    [[nodiscard]] std::shared_ptr<const runtime::ListenerView> view_of(Acceptor& acceptor,
                                                                       const boost::asio::ip::tcp::endpoint& local) const;
    void pause(Acceptor& acceptor, std::int64_t duration_ms);
    /// New connections of the listener are encrypted so. From any thread.
    void take_tls(const std::string& listener, std::shared_ptr<const tls::ServerContext> context);
    [[nodiscard]] std::size_t reactor_for_new_connection() const;

    runtime::Services& services_;
    const Schedule schedule_;
    ConnectionQuota quota_;
    RequestMemory memory_;
    ReactorLoads loads_;
    const reactor_choice::Limits limits_;
    const bool gathers_;
    std::vector<std::unique_ptr<NetReactor>> reactors_;
    std::vector<std::unique_ptr<Acceptor>> acceptors_;
    RefusedConnections refused_;
    bool stopping_ = false;
    // The last: it gives to the others.
    TlsReload tls_reload_;
};

}  // namespace partita::net
