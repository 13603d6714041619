#pragma once

#include <memory>
#include <string>

namespace partita::runtime {
class Broker;
class NetworkStatistics;
}  // namespace partita::runtime

namespace partita::http {

/// The HTTP side: health, metrics (Prometheus text), and what is under `/v1` (see resources.h). Loopback by default.
///
/// It never keeps the broker from running: a taken port costs the HTTP side and one warning. Served on
/// the first reactor, except for the few jobs that take longer (see jobs.h); at most `kConnectionsMax` connections,
/// and bounds for each in session.h, so that nobody can hold anything of the broker's.
class HttpServer {
  public:
    static constexpr std::size_t kConnectionsMax = 64;

    HttpServer(runtime::Broker& broker, const runtime::NetworkStatistics& network);
    ~HttpServer();

    /// Binds. `port` is from the command line: empty for the configured address, "off" for none. Returns
    /// the address listened on, empty when there is none (with a warning in the log if it should be).
    [[nodiscard]] std::string open(const std::string& port);
    void start();
    /// Stops accepting and closes what is open. On the first reactor's thread.
    void stop();

  private:
    class Listener;
    runtime::Broker& broker_;
    const runtime::NetworkStatistics& network_;
    std::shared_ptr<Listener> listener_;
};

}  // namespace partita::http
