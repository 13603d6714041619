#include "broker/net/listener_tls.h"

#include <string_view>
#include <utility>

#include "broker/config/listener_configs.h"
#include "broker/tls/key_material.h"

namespace partita::net {
namespace {

constexpr std::string_view kClientAuth = "ssl.client.auth";
constexpr std::string_view kRules = "ssl.principal.mapping.rules";

tls::ClientAuth client_auth_of(const config::ListenerConfigs& configs, const config::Endpoint& listener) {
    const std::string given =
        config::uses_sasl(listener.protocol) ? configs.own_text(kClientAuth).value_or("none") : configs.string(kClientAuth);
    return given == "required"    ? tls::ClientAuth::required
           : given == "requested" ? tls::ClientAuth::requested
                                  : tls::ClientAuth::none;
}

std::vector<std::string> list_of(const config::ListenerConfigs& configs, std::string_view key) {
    const config::ConfigValue value = configs.value(key);
    const auto* const list = std::get_if<std::vector<std::string>>(&value);
    return list == nullptr ? std::vector<std::string>() : *list;
}

}  // namespace

std::expected<std::shared_ptr<const tls::ServerContext>, std::string> tls_of_listener(const config::BrokerConfig& config,
                                                                                      const config::Endpoint& listener) {
    if (!config::uses_tls(listener.protocol)) {
        return nullptr;
    }
    const config::ListenerConfigs configs(config, listener.listener_name);
    const auto fail = [&](const std::string& reason) {
        return std::unexpected("listener " + listener.listener_name + ": " + reason);
    };
    if (const auto problem = configs.problem_with_class("ssl.engine.factory.class",
                                                        "org.apache.kafka.common.security.ssl.DefaultSslEngineFactory")) {
        return fail(*problem);
    }
    if (const auto problem = configs.problem_with_class(config::kPrincipalBuilder, config::kDefaultPrincipalBuilder)) {
        return fail(*problem);
    }
    auto rules = tls::PrincipalRules::parse(configs.string(kRules));
    if (!rules) {
        return fail(configs.name_of(kRules) + ": " + rules.error());
    }
    auto material = tls::load_key_material({.value = [&](std::string_view key) { return configs.text(key); },
                                            .name_of = [&](std::string_view key) { return configs.name_of(key); },
                                            .read_file = tls::read_store_file});
    if (!material) {
        return fail(material.error());
    }
    auto context = tls::ServerContext::make(std::move(*material), {.protocols = list_of(configs, "ssl.enabled.protocols"),
                                                                   .cipher_suites = list_of(configs, "ssl.cipher.suites"),
                                                                   .client_auth = client_auth_of(configs, listener),
                                                                   .rules = std::move(*rules)});
    if (!context) {
        return fail(context.error());
    }
    return std::move(*context);
}

}  // namespace partita::net
