#include "broker/core_dumps.h"

#include <sys/prctl.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "broker/config/broker_synonyms.h"
#include "broker/config/listeners.h"

namespace partita {
namespace {

bool is_secret(std::string_view name) {
    if (name.ends_with("sasl.jaas.config") || name == "partita.http.token.file" || name == "partita.scram.users.file") {
        return true;
    }
    const std::string_view of_listener = config::listener_override_key(name);
    const config::ConfigDefinition* const definition = config::find_broker_config(of_listener.empty() ? name : of_listener);
    return definition != nullptr && definition->is_sensitive();
}

}  // namespace

bool holds_secrets(const config::BrokerConfig& config) {
    return std::ranges::any_of(config.given(), [](const auto& each) { return !each.second.empty() && is_secret(each.first); }) ||
           std::ranges::any_of(config.listeners.listeners, [](const config::Listener& listener) {
               return config::uses_tls(listener.endpoint.protocol) || config::uses_sasl(listener.endpoint.protocol);
           });
}

bool forbid_core_dumps() { return ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0; }

}  // namespace partita
