#pragma once

#include <expected>
#include <string>
#include <utility>

#include "broker/config/config_definition.h"

namespace partita::config {

[[nodiscard]] inline std::unexpected<ConfigError> refusal(ErrorCode code, std::string message) {
    return std::unexpected(ConfigError{code, std::move(message)});
}
[[nodiscard]] inline std::unexpected<ConfigError> invalid_request(std::string message) {
    return refusal(ErrorCode::invalid_request, std::move(message));
}
[[nodiscard]] inline std::unexpected<ConfigError> invalid_config(std::string message) {
    return refusal(ErrorCode::invalid_config, std::move(message));
}

}  // namespace partita::config
