#include "broker/net/tls_reload.h"

#include <sys/stat.h>

#include <array>
#include <string_view>
#include <utility>

#include "broker/config/listener_configs.h"
#include "broker/config/log_setup.h"
#include "broker/net/listener_tls.h"
#include "schedule/movable_time.h"

namespace partita::net {
namespace {

/// The configs that `tls_of_listener` reads.
constexpr std::array<std::string_view, 12> kConfigs{"ssl.cipher.suites",
                                                    "ssl.client.auth",
                                                    "ssl.enabled.protocols",
                                                    "ssl.key.password",
                                                    "ssl.keystore.certificate.chain",
                                                    "ssl.keystore.key",
                                                    "ssl.keystore.password",
                                                    "ssl.keystore.type",
                                                    "ssl.principal.mapping.rules",
                                                    "ssl.truststore.certificates",
                                                    "ssl.truststore.password",
                                                    "ssl.truststore.type"};
constexpr std::array<std::string_view, 2> kFiles{"ssl.keystore.location", "ssl.truststore.location"};

/// A text that differs for another file, and for changed content of the same file. Empty if the file is missing.
std::string mark_of(const std::string& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0) {
        return {};
    }
    std::string mark;
    for (const auto number : {static_cast<std::int64_t>(found.st_dev), static_cast<std::int64_t>(found.st_ino),
                              static_cast<std::int64_t>(found.st_size), static_cast<std::int64_t>(found.st_mtim.tv_sec),
                              static_cast<std::int64_t>(found.st_mtim.tv_nsec)}) {
        mark += std::to_string(number) + " ";
    }
    return mark;
}

}  // namespace

std::optional<config::ConfigError> objection_to_tls(const config::BrokerConfig& before, const config::BrokerConfig& after) {
    for (const config::Listener& listener : before.listeners.listeners) {
        const config::Endpoint& endpoint = listener.endpoint;
        if (!config::uses_tls(endpoint.protocol) || config::values_about_clients(before, endpoint.listener_name) ==
                                                        config::values_about_clients(after, endpoint.listener_name)) {
            continue;
        }
        if (const auto context = tls_of_listener(after, endpoint); !context) {
            return config::ConfigError{.code = ErrorCode::invalid_request,
                                       .message = "Validation of dynamic config update of SSLFactory failed: " + context.error()};
        }
    }
    return std::nullopt;
}

TlsReload::TlsReload(const Schedule& schedule, const config::CurrentConfig& config, Take take)
    : schedule_(machine_schedule(schedule)), config_(config), take_(std::move(take)) {}

TlsReload::State TlsReload::state_of(const config::BrokerConfig& config, const config::Endpoint& listener) {
    const config::ListenerConfigs configs(config, listener.listener_name);
    State state;
    for (const std::string_view key : kConfigs) {
        if (auto own = configs.own_text(key)) {
            state.emplace(configs.prefix() + std::string(key), std::move(*own));
        } else if (auto text = configs.text(key)) {
            state.emplace(key, std::move(*text));
        }
    }
    for (const std::string_view key : kFiles) {
        if (auto path = configs.text(key)) {
            state.emplace(key, *path + " " + mark_of(*path));
        }
    }
    return state;
}

void TlsReload::watch(const config::Endpoint& listener) {
    watched_.push_back({.listener = listener, .state = state_of(*config_.get(), listener)});
}

void TlsReload::start() {
    if (!watched_.empty()) {
        worker_ = schedule_.executor.start("tls-reload", [this] { return look(); });
    }
}

Instant TlsReload::look() {
    const auto config = config_.get();
    for (auto& [listener, known] : watched_) {
        State state = state_of(*config, listener);
        if (state == known) {
            continue;
        }
        // Store the state before reading the files, so that a change meanwhile counts as another change.
        known = std::move(state);
        auto context = tls_of_listener(*config, listener);
        if (!context) {
            log::warning("net", "cannot use the changed TLS settings; the listener keeps the previous ones",
                         {{"reason", context.error()}});
            continue;
        }
        log::info("net", "reloaded TLS settings and stores", {{"listener", listener.listener_name}});
        take_(listener.listener_name, std::move(*context));
    }
    return schedule_.clock.now().monotonic + kLookMs;
}

}  // namespace partita::net
