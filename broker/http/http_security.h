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

/// The access rules of the HTTP side, and its keys.
struct HttpSecurity {
    Gate gate;
    /// Null if TLS is off.
    std::shared_ptr<boost::asio::ssl::context> tls;
};

/// Reads the token (`partita.http.token`, or the first line of the file in `partita.http.token.file`). For a listener that begins
/// with https:// it also reads the broker's key store: `ssl.keystore.*`, or the same names after `listener.name.http.`. The error
/// is one line that names the setting and no secret.
[[nodiscard]] std::expected<HttpSecurity, std::string> load_http_security(const config::BrokerConfig& config);

}  // namespace partita::http
