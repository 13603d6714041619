#pragma once

#include <string_view>

#include "broker/http/exchange.h"
#include "broker/runtime/clients/client_connection.h"

namespace partita::runtime {
struct Services;
}

namespace partita::http {

/// The client id by which the broker knows what is asked over HTTP.
inline constexpr std::string_view kHttpClientId = "partita-http";

/// Whoever asks over HTTP, as a client of the broker: with its principal and its address, and an id of a connection of its own,
/// which the broker forgets when this ends.
class LocalClient {
  public:
    LocalClient(runtime::Services& services, const Caller& caller);
    ~LocalClient();
    LocalClient(const LocalClient&) = delete;
    LocalClient& operator=(const LocalClient&) = delete;

    [[nodiscard]] runtime::ClientConnection& connection() { return connection_; }

  private:
    runtime::Services& services_;
    runtime::ClientConnection connection_;
};

}  // namespace partita::http
