#include "broker/cli/kafka_place.h"

#include <map>
#include <utility>

#include "broker/client/librdkafka_names.h"
#include "broker/tools/tool.h"

namespace partita::cli {
namespace {

constexpr const char* kRequestTimeoutMs = "15000";
constexpr const char* kCallTimeoutMs = "30000";

}  // namespace

KafkaPlace kafka_place_of(const CommandLine& line, std::string_view bootstrap_option) {
    return {.bootstrap = line.value(bootstrap_option),
            .client_config = line.value(kClientConfig.name),
            .client_settings = line.values(kClientProperty.name)};
}

std::expected<client::Settings, std::string> client_settings_of(const KafkaPlace& place, std::string_view client_id) {
    std::map<std::string, std::string> properties;
    if (!place.client_config.empty()) {
        auto read = tools::read_properties(place.client_config);
        if (!read) {
            return std::unexpected("--command-config: " + read.error().message);
        }
        properties = std::move(*read);
    }
    properties["bootstrap.servers"] = place.bootstrap;
    for (const std::string& setting : place.client_settings) {
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos) {
            return std::unexpected("-X " + setting + ": use KEY=VALUE");
        }
        const std::string name = setting.substr(0, equals);
        if (!client::is_client_setting(name)) {
            const std::string_view near = client::similar_client_setting(name);
            return std::unexpected("-X " + name + ": unknown setting of the client" +
                                   (near.empty() ? "" : "; did you mean " + std::string(near) + "?") +
                                   " (docs/commands.md lists all settings)");
        }
        properties[name] = setting.substr(equals + 1);
    }
    properties.try_emplace("client.id", client_id);
    const auto is_given = [&](const char* name) { return properties.contains(name); };
    if (!is_given("request.timeout.ms") && !is_given("socket.timeout.ms") && !is_given("default.api.timeout.ms")) {
        properties["request.timeout.ms"] = kRequestTimeoutMs;
        properties["default.api.timeout.ms"] = kCallTimeoutMs;
    }
    auto settings = client::settings_of(properties);
    if (!settings) {
        return std::unexpected(std::move(settings.error().message));
    }
    return std::move(*settings);
}

}  // namespace partita::cli
