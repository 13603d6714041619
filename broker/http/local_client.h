#pragma once

#include <string_view>

#include "broker/http/exchange.h"
#include "broker/runtime/clients/client_connection.h"

namespace partita::runtime {
struct Services;
}

namespace partita::http {

/// The client id of all requests that come over HTTP.
inline constexpr std::string_view kHttpClientId = "partita-http";

/// An HTTP caller as a client of the broker. It has the caller's principal and address, and a connection id of its own, which the
/// broker forgets when this object ends.
class LocalClient {
  public:
    LocalClient(const runtime::Services& services, const Caller& caller);
    ~LocalClient();
    LocalClient(const LocalClient&) = delete;
    LocalClient& operator=(const LocalClient&) = delete;

    [[nodiscard]] runtime::ClientConnection& connection() { return connection_; }

  private:
    const runtime::Services& services_;
    runtime::ClientConnection connection_;
};

}  // namespace partita::http
