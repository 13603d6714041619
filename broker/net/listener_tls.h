#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/listeners.h"
#include "broker/tls/server_context.h"

namespace partita::net {

/// A listener's TLS context, from its current configs and the stores that they name; null for a listener without TLS. As in
/// Kafka, `ssl.client.auth` applies to SASL_SSL listeners only with their prefix. The error is one line that names the config and
/// reveals no secret.
[[nodiscard]] std::expected<std::shared_ptr<const tls::ServerContext>, std::string> tls_of_listener(
    const config::BrokerConfig& config, const config::Endpoint& listener);

}  // namespace partita::net
