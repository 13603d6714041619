#pragma once

#include <functional>
#include <memory>
#include <string>

#include "broker/config/broker_config.h"

namespace partita {

/// Makes a text of the host where clients connect.
using Greeting = std::function<std::string(const std::string& host)>;

struct ServeOptions {
    std::shared_ptr<const config::BrokerConfig> config;
    bool ephemeral = false;
    /// Written once clients can connect; removed at the end. Empty for none.
    std::string port_file;
    /// Empty for the configured one, "off" for none.
    std::string http_port;
    /// The broker prints this on standard output when it serves clients; the log is no place for secrets. Unset for nothing.
    Greeting greeting;
};

/// Runs a broker until SIGTERM or SIGINT. Returns the exit code of the process: 0 after a clean stop,
/// 2 when it could not start (with one line on standard error that says what to do), 1 when the clean
/// stop failed.
[[nodiscard]] int serve(const ServeOptions& options);

}  // namespace partita
