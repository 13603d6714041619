#pragma once

#include <expected>
#include <memory>
#include <string>

#include "broker/config/broker_config.h"
#include "broker/http/gate.h"

namespace boost::asio::ssl {
class context;
}

namespace partita::http {

/// Who is let in over HTTP, and the keys of the HTTP side.
struct HttpSecurity {
    Gate gate;
    /// Null: without TLS.
    std::shared_ptr<boost::asio::ssl::context> tls;
};

/// Reads the token (`partita.http.token`, or the first line of the file that `partita.http.token.file` names) and, for a listener
/// that begins with https://, the broker's key store: `ssl.keystore.*`, or the same names behind `listener.name.http.`. The error
/// is one line that names the setting, and no secret.
[[nodiscard]] std::expected<HttpSecurity, std::string> load_http_security(const config::BrokerConfig& config);

}  // namespace partita::http
