#pragma once

#include <expected>
#include <memory>
#include <string>

#include "broker/authentication/login_settings.h"
#include "broker/config/broker_config.h"
#include "broker/config/listeners.h"

namespace partita::net {

/// How the clients of a listener log in, as the configs of this moment say; null for a listener without SASL. Reads the key sets
/// that they name. The error is one line that says what to change.
[[nodiscard]] std::expected<std::shared_ptr<const authentication::LoginSettings>, std::string> login_of_listener(
    const config::BrokerConfig& config, const config::Endpoint& listener);

}  // namespace partita::net
