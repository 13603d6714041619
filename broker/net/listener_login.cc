#include "broker/net/listener_login.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "broker/authentication/jwks.h"
#include "broker/config/broker_synonyms.h"

namespace partita::net {
namespace {

std::expected<std::string, std::string> read_key_set(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return std::unexpected("cannot open " + path + ": " + std::strerror(errno));
    }
    std::string text(authentication::kKeySetBytesMax + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad()) {
        return std::unexpected("cannot read " + path);
    }
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

std::optional<std::string> text_of(const config::ConfigMap& effective, std::string_view name) {
    if (const auto given = effective.find(name); given != effective.end()) {
        return given->second;
    }
    const config::ConfigDefinition* const definition = config::find_broker_config(name);
    if (definition == nullptr || !definition->default_value) {
        return std::nullopt;
    }
    return std::string(*definition->default_value);
}

}  // namespace

std::expected<std::shared_ptr<const authentication::LoginSettings>, std::string> login_of_listener(
    const config::BrokerConfig& config, const config::Endpoint& listener) {
    if (!config::uses_sasl(listener.protocol)) {
        return nullptr;
    }
    const config::ConfigMap effective = config::effective_broker_values(config.given(), config.dynamic());
    auto settings = authentication::make_login_settings({
        .listener = listener.listener_name,
        .value = [&](std::string_view name) { return text_of(effective, name); },
        .read_file = read_key_set,
    });
    if (!settings) {
        return std::unexpected(std::move(settings.error()));
    }
    // Nobody logs in between brokers here; Kafka does not start otherwise.
    const std::string own_mechanism = text_of(effective, "sasl.mechanism.inter.broker.protocol").value_or("");
    if (config.listeners.inter_broker_listener_name == listener.listener_name && settings->find(own_mechanism) == nullptr) {
        return std::unexpected(
            "requirement failed: sasl.mechanism.inter.broker.protocol must be included in sasl.enabled.mechanisms when SASL is "
            "used "
            "for inter-broker communication (it is " +
            own_mechanism + ")");
    }
    return std::make_shared<const authentication::LoginSettings>(std::move(*settings));
}

}  // namespace partita::net
