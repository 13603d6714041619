#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "broker/config/broker_config.h"

namespace partita {

struct ServeOptions {
    std::shared_ptr<const config::BrokerConfig> config;
    bool ephemeral = false;
    /// Written once clients can connect; removed at the end. Empty for none.
    std::string port_file;
    /// Empty for the configured one, "off" for none.
    std::string http_port;
    /// The name and the key that were made for this run, which only who starts it is told. Empty when keys were given, or are not
    /// wanted.
    std::optional<std::pair<std::string, std::string>> made_access_key;
};

/// Runs a broker until SIGTERM or SIGINT. Returns the exit code of the process: 0 after a clean stop,
/// 2 when it could not start (with one line on standard error that says what to do), 1 when the clean
/// stop failed.
[[nodiscard]] int serve(const ServeOptions& options);

}  // namespace partita
