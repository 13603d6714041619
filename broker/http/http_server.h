#pragma once

#include <boost/system/error_code.hpp>
#include <memory>
#include <string>

#include "broker/config/listeners.h"
#include "broker/http/http_security.h"
#include "schedule/executor.h"

namespace partita::runtime {
class NetworkStatistics;
struct Services;
}  // namespace partita::runtime

namespace partita::http {

/// The HTTP side: health, metrics (Prometheus text), and the resources under `/v1` (see resources.h). By default it listens on
/// loopback only.
///
/// It never keeps the broker from running: a taken port costs one warning. If that is the default port (a second broker on a
/// machine), the server takes any free port instead. If the user asked for the port, the HTTP side is off. Clients find the
/// address in the broker's setting partita.http.advertised. Every answer names its broker (broker_identity.h).
///
/// The first reactor serves all requests, except for the few that take longer (see jobs.h). At most `kConnectionsMax` connections
/// exist, besides the WebSockets of events (EventFeed::kSinksMax). session.h bounds each of them, so that no client can exhaust
/// the broker.
class HttpServer {
  public:
    /// At this number, a new connection replaces the one that has waited longest for a request.
    static constexpr std::size_t kConnectionsMax = 64;

    HttpServer(const runtime::Services& services, const runtime::NetworkStatistics& network, Executor& executor,
               HttpSecurity security);
    ~HttpServer();

    /// Binds and listens. `port` comes from the command line: empty for the configured address, "off" for none, otherwise a
    /// number. `kafka` is where clients connect to this broker. Returns the listening address; empty if the server does not
    /// listen. If it should listen but cannot, it logs a warning.
    /// `held`: a listening socket that an earlier server of this process left, or -1; this one owns it then.
    [[nodiscard]] std::string open(const std::string& port, const std::string& kafka, int held = -1);
    /// Begins to accept connections.
    void start();
    /// Stops accepting and closes all connections. Call it on the first reactor's thread.
    void stop();
    /// The same, but the listening socket stays open, and clients that connect wait. Returns the socket, or -1 if this server
    /// does not listen.
    [[nodiscard]] int stop_and_release();

  private:
    class Listener;
    [[nodiscard]] boost::system::error_code listen(const config::AdvertisedAddress& address, const std::string& kafka);
    [[nodiscard]] boost::system::error_code take(int held, const std::string& kafka);

    const runtime::Services& services_;
    const runtime::NetworkStatistics& network_;
    Executor& executor_;
    const HttpSecurity security_;
    std::shared_ptr<Listener> listener_;
};

}  // namespace partita::http
