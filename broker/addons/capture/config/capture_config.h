#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"

namespace partita::capture {

/// The settings in force for the capture of a topic: `partita.capture.*`. They are not in TopicConfig, because only capture uses
/// them.
struct CaptureConfig {
    bool enable = false;
    std::int64_t interval_ms = 0;
    std::int64_t size_bytes = 0;
    std::string name_format;
    bool skip_empty = false;

    friend bool operator==(const CaptureConfig&, const CaptureConfig&) = default;
};

/// The settings of a topic without its own: `partita.default.capture.*`.
[[nodiscard]] CaptureConfig capture_defaults(const config::BrokerConfig& broker);
/// The settings of a topic with these overrides. An unreadable value, as another version may have written it, counts as missing.
[[nodiscard]] CaptureConfig capture_config(const config::ConfigMap& overrides, const CaptureConfig& defaults);

/// `partita.capture.directory`, empty for no capture, and `partita.capture.namespace`.
[[nodiscard]] std::string capture_directory(const config::BrokerConfig& broker);
[[nodiscard]] std::string capture_namespace(const config::BrokerConfig& broker);

/// Checks that capture may name its files in this format. The error names `config` and the fault.
[[nodiscard]] std::expected<void, config::ConfigError> check_name_format(std::string_view config, const std::string& text);

}  // namespace partita::capture
