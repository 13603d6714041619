#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "broker/authentication/login_settings.h"
#include "broker/config/broker_config.h"
#include "broker/config/listeners.h"
#include "schedule/executor.h"

namespace partita::kafka {

/// How the clients of a listener log in, as the configs of this moment say; null for a listener without SASL. Reads the key sets
/// that they name, and fetches those of URLs, again and again as long as the settings live. The error is one line that says what
/// to change.
[[nodiscard]] std::expected<std::shared_ptr<const authentication::LoginSettings>, std::string> login_of_listener(
    const config::BrokerConfig& config, const config::Endpoint& listener, const Schedule& schedule);

/// What a client may not make of the settings of this listener's logins: settings by which nobody could log in after the next
/// start, and other places of keys than those of the start (of any listener), since a URL or a file that a client names is read
/// with the broker's rights. Null when nothing of the kind is among what changes.
[[nodiscard]] std::optional<config::ConfigError> objection_to_login(const config::Endpoint& listener,
                                                                    const config::BrokerConfig& before,
                                                                    const config::BrokerConfig& after);

}  // namespace partita::kafka
