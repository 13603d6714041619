#pragma once

#include <expected>
#include <string>

#include "broker/tools/web_service.h"

namespace partita::cli {

/// Sends one HTTP or HTTPS request over a connection of its own; a tool makes a handful of them.
[[nodiscard]] std::expected<tools::WebAnswer, std::string> ask_web_service(const tools::WebService& service,
                                                                           const tools::WebRequest& request);

}  // namespace partita::cli
