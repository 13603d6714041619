#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"

namespace partita::capture {

/// What is in force for the capture of a topic: `partita.capture.*`, beside TopicConfig, since it concerns nobody but capture.
struct CaptureConfig {
    bool enable = false;
    std::int64_t interval_ms = 0;
    std::int64_t size_bytes = 0;
    std::string name_format;
    bool skip_empty = false;

    friend bool operator==(const CaptureConfig&, const CaptureConfig&) = default;
};

/// Of a topic that says nothing itself: `partita.default.capture.*`.
[[nodiscard]] CaptureConfig capture_defaults(const config::BrokerConfig& broker);
/// Of a topic with these overrides. What cannot be read, as another version wrote it, is as if it were not there.
[[nodiscard]] CaptureConfig capture_config(const config::ConfigMap& overrides, const CaptureConfig& defaults);

/// `partita.capture.directory`, empty for no capture, and `partita.capture.namespace`.
[[nodiscard]] std::string capture_directory(const config::BrokerConfig& broker);
[[nodiscard]] std::string capture_namespace(const config::BrokerConfig& broker);

/// Whether capture may name its files so. The error names `config` and what is wrong.
[[nodiscard]] std::expected<void, config::ConfigError> check_name_format(std::string_view config, const std::string& text);

}  // namespace partita::capture
