#include "broker/client/settings.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "broker/client/librdkafka_names.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

struct Duration {
    const char* name;
    std::int64_t Settings::* member;
    std::int64_t least;
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

constexpr std::int64_t kIntMax = std::numeric_limits<std::int32_t>::max();
constexpr Duration kDurations[] = {
    {"request.timeout.ms", &Settings::request_timeout_ms, 0, kIntMax},
    {"default.api.timeout.ms", &Settings::default_api_timeout_ms, 0, kIntMax},
    {"retry.backoff.ms", &Settings::retry_backoff_ms, 0},
    {"retry.backoff.max.ms", &Settings::retry_backoff_max_ms, 0},
    {"socket.connection.setup.timeout.ms", &Settings::connection_setup_timeout_ms, 0},
};

std::unexpected<Failure> refuse_setting(std::string message) {
    return std::unexpected(Failure{.kind = Failure::Kind::bad_setting, .message = std::move(message)});
}

Result<void> read(const Duration& duration, const std::string& value, Settings& settings) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const std::string said = "Invalid value " + value + " for configuration " + duration.name + ": ";
    if (error != std::errc() || end != value.data() + value.size() || number > duration.most) {
        return refuse_setting(said + "Not a number of type " + (duration.most == kIntMax ? "INT" : "LONG"));
    }
    if (number < duration.least) {
        return refuse_setting(said + "Value must be at least " + std::to_string(duration.least));
    }
    settings.*duration.member = number;
    return {};
}

Result<void> read_security(const std::map<std::string, std::string>& properties, Settings& settings) {
    const auto protocol = properties.find("security.protocol");
    if (protocol == properties.end()) {
        return {};
    }
    std::string name = protocol->second;
    std::ranges::transform(name, name.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    constexpr std::string_view kProtocols[] = {"PLAINTEXT", "SASL_PLAINTEXT", "SASL_SSL", "SSL"};
    if (std::ranges::find(kProtocols, name) == std::end(kProtocols)) {
        return refuse_setting("Invalid value " + protocol->second +
                              " for configuration security.protocol: String must be one of (case insensitive): PLAINTEXT, "
                              "SASL_PLAINTEXT, SASL_SSL, SSL");
    }
    if (name.ends_with("SSL")) {
        PARTITA_TRY_ASSIGN(auto tls, Tls::of(properties));
        settings.tls = std::move(tls);
    }
    if (name.starts_with("SASL_")) {
        PARTITA_TRY_ASSIGN(auto login, login_of(properties));
        settings.login = std::move(login);
    }
    return {};
}

}  // namespace

Result<Settings> settings_of(const std::map<std::string, std::string>& given) {
    PARTITA_TRY_ASSIGN(const auto in_javas, in_javas_names(given));
    const std::map<std::string, std::string>& properties = in_javas.properties;
    Settings settings;
    PARTITA_TRY(read_security(properties, settings));
    for (const Duration& duration : kDurations) {
        const auto found = properties.find(duration.name);
        if (found == properties.end()) {
            continue;
        }
        PARTITA_TRY(read(duration, found->second, settings));
    }
    const bool has_api_timeout = properties.contains("default.api.timeout.ms");
    if (settings.default_api_timeout_ms < settings.request_timeout_ms) {
        if (has_api_timeout) {
            return refuse_setting(
                "The specified value of default.api.timeout.ms must be no smaller than the value of request.timeout.ms.");
        }
        settings.default_api_timeout_ms = settings.request_timeout_ms;
    }
    if (const auto id = properties.find("client.id"); id != properties.end()) {
        settings.client_id = id->second;
    }
    const auto bootstrap = properties.find("bootstrap.servers");
    if (bootstrap == properties.end()) {
        return refuse_setting("Missing required configuration \"bootstrap.servers\" which has no default value.");
    }
    PARTITA_TRY_ASSIGN(settings.bootstrap, parse_bootstrap(bootstrap->second));
    return settings;
}

}  // namespace partita::client
