#pragma once

#include <functional>
#include <memory>
#include <string>

#include "broker/config/broker_config.h"

namespace partita {

/// Makes the greeting from the host where clients connect.
using Greeting = std::function<std::string(const std::string& host)>;

struct ServeOptions {
    std::shared_ptr<const config::BrokerConfig> config;
    bool ephemeral = false;
    /// The folder of a snapshot with which an empty data directory begins; empty for none.
    std::string from_snapshot;
    /// Written once clients can connect, removed at the end. Empty for no file.
    std::string port_file;
    /// Empty for the configured port, "off" for no HTTP side.
    std::string http_port;
    /// The broker prints this on standard output when it serves clients. It may hold secrets, which must not be in the log. Unset
    /// for no greeting.
    Greeting greeting;
};

/// Runs a broker until SIGTERM or SIGINT. Returns the exit code of the process: 0 after a clean stop, 1 if the clean stop failed,
/// 2 if the broker could not start. In the last case, one line on standard error says what to do.
[[nodiscard]] int serve(const ServeOptions& options);

}  // namespace partita
