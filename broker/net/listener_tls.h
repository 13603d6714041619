#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/listeners.h"
#include "broker/tls/server_context.h"

namespace partita::net {

/// A listener's side of TLS, as its configs and the stores that they name are at this moment; null for a listener without TLS.
/// As in Kafka `ssl.client.auth` reaches listeners of SASL_SSL only with their prefix. The error is one line that names the
/// config, and no secret.
[[nodiscard]] std::expected<std::shared_ptr<const tls::ServerContext>, std::string> tls_of_listener(
    const config::BrokerConfig& config, const config::Endpoint& listener);

}  // namespace partita::net
