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

/// The login settings of a listener, from the current configs; null for a listener without SASL. Reads the key sets that the
/// configs name. Fetches those with URLs, repeatedly for as long as the settings live. The error is one line that says what to
/// change.
[[nodiscard]] std::expected<std::shared_ptr<const authentication::LoginSettings>, std::string> login_of_listener(
    const config::BrokerConfig& config, const config::Endpoint& listener, const Schedule& schedule);

/// The error if a client may not make this change to the login settings of this listener; null if it may. Settings must allow a
/// login after the next start. Key sets must stay in the places of the start, for any listener: the broker reads such a URL or
/// file with its own rights.
[[nodiscard]] std::optional<config::ConfigError> objection_to_login(const config::Endpoint& listener,
                                                                    const config::BrokerConfig& before,
                                                                    const config::BrokerConfig& after);

}  // namespace partita::kafka
