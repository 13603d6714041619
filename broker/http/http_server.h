#pragma once

#include <boost/system/error_code.hpp>
#include <memory>
#include <string>

#include "broker/config/listeners.h"

namespace partita::runtime {
class NetworkStatistics;
struct Services;
}  // namespace partita::runtime

namespace partita::http {

/// The HTTP side: health, metrics (Prometheus text), and what is under `/v1` (see resources.h). Loopback by default.
///
/// It never keeps the broker from running: a taken port costs one warning. When it is the default one, as with a second broker
/// on a machine, any free port serves instead; one that was asked for is off then. Clients find out by the broker's setting
/// partita.http.advertised. Every answer names its broker (broker_identity.h). Served on
/// the first reactor, except for the few jobs that take longer (see jobs.h); at most `kConnectionsMax` connections,
/// and bounds for each in session.h, so that nobody can hold anything of the broker's.
class HttpServer {
  public:
    static constexpr std::size_t kConnectionsMax = 64;

    HttpServer(runtime::Services& services, const runtime::NetworkStatistics& network);
    ~HttpServer();

    /// Binds. `port` is from the command line: empty for the configured address, "off" for none, else a number. `kafka` is
    /// where clients connect to this broker. Returns the address listened on, empty when there is none (with a warning in the
    /// log if it should be).
    [[nodiscard]] std::string open(const std::string& port, const std::string& kafka);
    void start();
    /// Stops accepting and closes what is open. On the first reactor's thread.
    void stop();

  private:
    class Listener;
    [[nodiscard]] boost::system::error_code listen(const config::AdvertisedAddress& address, const std::string& kafka);

    runtime::Services& services_;
    const runtime::NetworkStatistics& network_;
    std::shared_ptr<Listener> listener_;
};

}  // namespace partita::http
