#include "broker/kafka/listener_login.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "broker/authentication/jwks.h"
#include "broker/config/broker_synonyms.h"
#include "broker/config/listener_configs.h"
#include "broker/kafka/fetched_keys.h"
#include "protocol/try.h"

namespace partita::kafka {
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

constexpr std::string_view kKeySetUrl = "sasl.oauthbearer.jwks.endpoint.url";

using FetchKeys = decltype(authentication::LoginConfigs::fetch_keys);

/// For callers that only check whether settings are valid.
std::expected<std::shared_ptr<authentication::KeySource>, std::string> no_keys_yet(const authentication::KeySetPlace&) {
    return nullptr;
}

std::expected<authentication::LoginSettings, std::string> settings_of(const config::BrokerConfig& config,
                                                                      const config::Endpoint& listener, FetchKeys fetch_keys) {
    const config::ConfigMap effective = config::effective_broker_values(config.given(), config.dynamic());
    // The broker cannot know which principal a custom builder class would make of a client.
    if (auto problem = config::ListenerConfigs(effective, listener.listener_name)
                           .problem_with_class(config::kPrincipalBuilder, config::kDefaultPrincipalBuilder)) {
        return std::unexpected(std::move(*problem));
    }
    return authentication::make_login_settings({
        .listener = listener.listener_name,
        .value = [&](std::string_view name) { return text_of(name.ends_with(kKeySetUrl) ? config.given() : effective, name); },
        .read_file = read_key_set,
        .fetch_keys = std::move(fetch_keys),
    });
}

/// The error of the settings for logins between brokers. This broker never uses them, but Kafka does not start with invalid ones.
std::optional<std::string> problem_between_brokers(const config::BrokerConfig& config, const config::Endpoint& listener,
                                                   const authentication::LoginSettings& settings) {
    const std::string own_mechanism =
        config::config_value_text(config.value("sasl.mechanism.inter.broker.protocol")).value_or("");
    if (config.listeners.inter_broker_listener_name != listener.listener_name || settings.find(own_mechanism) != nullptr) {
        return std::nullopt;
    }
    return "requirement failed: sasl.mechanism.inter.broker.protocol must be included in sasl.enabled.mechanisms when SASL is "
           "used for inter-broker communication (it is " +
           own_mechanism + ")";
}

}  // namespace

std::expected<std::shared_ptr<const authentication::LoginSettings>, std::string> login_of_listener(
    const config::BrokerConfig& config, const config::Endpoint& listener, const Schedule& schedule) {
    if (!config::uses_sasl(listener.protocol)) {
        return nullptr;
    }
    PARTITA_TRY_ASSIGN(auto settings, settings_of(config, listener, [&](authentication::KeySetPlace place) {
                           return FetchedKeys::fetch(std::move(place), schedule);
                       }));
    if (auto problem = problem_between_brokers(config, listener, settings)) {
        return std::unexpected(std::move(*problem));
    }
    return std::make_shared<const authentication::LoginSettings>(std::move(settings));
}

std::optional<config::ConfigError> objection_to_login(const config::Endpoint& listener, const config::BrokerConfig& before,
                                                      const config::BrokerConfig& after) {
    for (const config::ConfigMap* const dynamic : {&after.dynamic().this_broker, &after.dynamic().cluster_default}) {
        for (const auto& [name, value] : *dynamic) {
            if (name.ends_with(kKeySetUrl)) {
                return config::ConfigError{.code = ErrorCode::invalid_request,
                                           .message = "Cannot update these configs dynamically: [" + name + "]"};
            }
        }
    }
    if (!config::uses_sasl(listener.protocol) || config::values_about_clients(before, listener.listener_name) ==
                                                     config::values_about_clients(after, listener.listener_name)) {
        return std::nullopt;
    }
    const auto settings = settings_of(after, listener, no_keys_yet);
    const auto problem =
        settings ? problem_between_brokers(after, listener, *settings) : std::optional(std::string(settings.error()));
    if (!problem) {
        return std::nullopt;
    }
    return config::ConfigError{.code = ErrorCode::invalid_request,
                               .message = "listener " + listener.listener_name + ": " + *problem};
}

}  // namespace partita::kafka
