#pragma once

#include <memory>
#include <string>

namespace partita::runtime {
class Broker;
class NetworkStatistics;
}  // namespace partita::runtime

namespace partita::http {

/// The HTTP side: `/health/live`, `/health/ready`, `/metrics` (Prometheus text). Loopback by default.
///
/// It never keeps the broker from running: a taken port costs the HTTP side and one warning. Served on
/// the first reactor; at most `kConnectionsMax` connections, requests of at most `kRequestBytesMax`, and
/// `kTimeoutSeconds` for each, so that nobody can hold anything of the broker's.
class HttpServer {
  public:
    static constexpr std::size_t kConnectionsMax = 64;
    static constexpr std::size_t kRequestBytesMax = 16 * 1024;
    static constexpr int kTimeoutSeconds = 10;

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
