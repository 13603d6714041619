#include "broker/client/librdkafka_names.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "broker/tls/key_material.h"
#include "protocol/edit_distance.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

using Properties = std::map<std::string, std::string>;

/// Two names of the same value.
constexpr auto kAliases = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"metadata.broker.list", "bootstrap.servers"},
    {"sasl.mechanisms", "sasl.mechanism"},
    {"socket.timeout.ms", "request.timeout.ms"},
});

/// One of the two TLS stores in librdkafka's form: PEM, as text or in a file of its own.
struct PemPart {
    std::string_view text;
    std::string_view location;
    std::string_view javas_text;
};
constexpr PemPart kTrusted{"ssl.ca.pem", "ssl.ca.location", "ssl.truststore.certificates"};
constexpr PemPart kChain{"ssl.certificate.pem", "ssl.certificate.location", "ssl.keystore.certificate.chain"};
constexpr PemPart kKey{"ssl.key.pem", "ssl.key.location", "ssl.keystore.key"};
/// librdkafka's word for the machine's trusted authorities.
constexpr std::string_view kSystemsAuthorities = "probe";

constexpr auto kNames = std::to_array<std::string_view>({
    "bootstrap.servers",
    "client.id",
    "default.api.timeout.ms",
    "enable.ssl.certificate.verification",
    "metadata.broker.list",
    "request.timeout.ms",
    "retry.backoff.max.ms",
    "retry.backoff.ms",
    "sasl.jaas.config",
    "sasl.mechanism",
    "sasl.mechanisms",
    "sasl.password",
    "sasl.username",
    "security.protocol",
    "socket.connection.setup.timeout.ms",
    "socket.timeout.ms",
    "ssl.ca.location",
    "ssl.ca.pem",
    "ssl.certificate.location",
    "ssl.certificate.pem",
    "ssl.enabled.protocols",
    "ssl.endpoint.identification.algorithm",
    "ssl.key.location",
    "ssl.key.password",
    "ssl.key.pem",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.keystore.type",
    "ssl.truststore.certificates",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.type",
});

/// Longer words resemble no setting.
constexpr std::size_t kComparedBytesMax = 64;

class Translation {
  public:
    explicit Translation(const Properties& properties) { settings_.properties = properties; }

    [[nodiscard]] bool has(std::string_view name) const { return settings_.properties.contains(std::string(name)); }
    [[nodiscard]] bool has_one_of(std::initializer_list<std::string_view> names) const {
        return std::ranges::any_of(names, [&](std::string_view name) { return has(name); });
    }
    void set(std::string_view javas, std::string_view given, std::string value) {
        settings_.given_names.insert_or_assign(std::string(javas), std::string(given));
        settings_.properties.insert_or_assign(std::string(javas), std::move(value));
    }
    void rename(std::string_view given, std::string_view javas) {
        if (has(given) && !has(javas)) {
            set(javas, given, settings_.properties.at(std::string(given)));
        }
    }
    /// Sets the text of a part if librdkafka's names provide it.
    [[nodiscard]] Result<void> take(const PemPart& part) {
        if (has(part.text)) {
            set(part.javas_text, part.text, settings_.properties.at(std::string(part.text)));
            return {};
        }
        if (!has(part.location)) {
            return {};
        }
        const std::string path = settings_.properties.at(std::string(part.location));
        auto content = tls::read_store_file(path);
        if (!content) {
            return std::unexpected(Failure{.kind = Failure::Kind::bad_setting,
                                           .message = std::string(part.location) + "=" + path + ": " + content.error()});
        }
        set(part.javas_text, std::string(part.location) + "=" + path, std::move(*content));
        return {};
    }
    [[nodiscard]] Result<void> take_trusted() {
        const bool is_javas = has_one_of({"ssl.truststore.location", "ssl.truststore.certificates"});
        const auto location = settings_.properties.find(std::string(kTrusted.location));
        const bool is_systems = location != settings_.properties.end() && location->second == kSystemsAuthorities;
        if (is_javas || is_systems || !has_one_of({kTrusted.text, kTrusted.location})) {
            return {};
        }
        set("ssl.truststore.type", "ssl.truststore.type", "PEM");
        return take(kTrusted);
    }
    [[nodiscard]] Result<void> take_key() {
        if (has_one_of({"ssl.keystore.location", kKey.javas_text, kChain.javas_text}) ||
            !has_one_of({kKey.text, kKey.location, kChain.text, kChain.location})) {
            return {};
        }
        set("ssl.keystore.type", "ssl.keystore.type", "PEM");
        // If one of the two is missing, messages should use librdkafka's name for it.
        settings_.given_names.insert_or_assign(std::string(kKey.javas_text), std::string(kKey.location));
        settings_.given_names.insert_or_assign(std::string(kChain.javas_text), std::string(kChain.location));
        auto taken = take(kChain);
        return taken ? take(kKey) : taken;
    }
    [[nodiscard]] JavaSettings result() { return std::move(settings_); }

  private:
    JavaSettings settings_;
};

}  // namespace

std::string JavaSettings::given_name(std::string_view name) const {
    const auto found = given_names.find(name);
    return found == given_names.end() ? std::string(name) : found->second;
}

Result<JavaSettings> in_javas_names(const Properties& properties) {
    Translation translation(properties);
    for (const auto& [given, javas] : kAliases) {
        translation.rename(given, javas);
    }
    PARTITA_TRY(translation.take_trusted());
    PARTITA_TRY(translation.take_key());
    return translation.result();
}

bool is_client_setting(std::string_view name) { return std::ranges::binary_search(kNames, name); }

std::string_view similar_client_setting(std::string_view name) {
    if (name.size() > kComparedBytesMax) {
        return {};
    }
    const std::vector<std::string_view> names(kNames.begin(), kNames.end());
    return nearest(name, names).value_or(std::string_view());
}

}  // namespace partita::client
