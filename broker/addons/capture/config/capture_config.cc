#include "broker/addons/capture/config/capture_config.h"

#include "broker/addons/capture/core/name_format.h"

namespace partita::capture {
namespace {

template <class Value>
void read(const config::ConfigMap& overrides, std::string_view name, Value& value) {
    const auto given = overrides.find(name);
    if (given == overrides.end()) {
        return;
    }
    if (const auto parsed = config::parse_config_value(config::find_topic_config(name)->definition, given->second)) {
        value = std::get<Value>(*parsed);
    }
}

template <class Value>
Value of_broker(const config::BrokerConfig& broker, std::string_view name) {
    return std::get<Value>(broker.value(name));
}

}  // namespace

CaptureConfig capture_defaults(const config::BrokerConfig& broker) {
    return {.enable = of_broker<bool>(broker, "partita.default.capture.enable"),
            .interval_ms = of_broker<std::int64_t>(broker, "partita.default.capture.interval.ms"),
            .size_bytes = of_broker<std::int64_t>(broker, "partita.default.capture.size.bytes"),
            .name_format = of_broker<std::string>(broker, "partita.default.capture.name.format"),
            .skip_empty = of_broker<bool>(broker, "partita.default.capture.skip.empty")};
}

CaptureConfig capture_config(const config::ConfigMap& overrides, const CaptureConfig& defaults) {
    CaptureConfig config = defaults;
    read(overrides, "partita.capture.enable", config.enable);
    read(overrides, "partita.capture.interval.ms", config.interval_ms);
    read(overrides, "partita.capture.size.bytes", config.size_bytes);
    read(overrides, "partita.capture.name.format", config.name_format);
    read(overrides, "partita.capture.skip.empty", config.skip_empty);
    return config;
}

std::string capture_directory(const config::BrokerConfig& broker) {
    return of_broker<std::string>(broker, "partita.capture.directory");
}
std::string capture_namespace(const config::BrokerConfig& broker) {
    return of_broker<std::string>(broker, "partita.capture.namespace");
}

std::expected<void, config::ConfigError> check_name_format(std::string_view config, const std::string& text) {
    if (const auto parsed = NameFormat::parse(text); !parsed) {
        return std::unexpected(config::ConfigError{.message = "Invalid value " + text + " for configuration " +
                                                              std::string(config) + ": " + parsed.error()});
    }
    return {};
}

}  // namespace partita::capture
