#pragma once

#include <expected>
#include <string>

#include "broker/tools/web_service.h"

namespace partita::cli {

/// Asks over HTTP, or HTTP with TLS: a connection for each request, of which a tool makes a handful.
[[nodiscard]] std::expected<tools::WebAnswer, std::string> ask_web_service(const tools::WebService& service,
                                                                           const tools::WebRequest& request);

}  // namespace partita::cli
