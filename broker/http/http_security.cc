#include "broker/http/http_security.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/ssl/context.hpp>
#include <optional>
#include <utility>

#include "broker/authentication/crypto.h"
#include "broker/config/listener_configs.h"
#include "broker/tls/key_material.h"
#include "broker/tls/openssl.h"
#include "protocol/try.h"

namespace partita::http {
namespace {

using Token = std::expected<std::string, std::string>;

constexpr std::string_view kToken = "partita.http.token";
constexpr std::string_view kTokenFile = "partita.http.token.file";
/// The HTTP listener's name, which is in the prefix of its configs.
constexpr std::string_view kName = "http";

std::string text_of(const config::BrokerConfig& config, std::string_view name) {
    const config::ConfigValue value = config.value(name);
    const auto* const text = std::get_if<std::string>(&value);
    return text == nullptr ? std::string() : *text;
}

/// True if a header can hold every character of the token.
bool can_be_sent(std::string_view token) {
    return std::ranges::all_of(token, [](char c) { return c > ' ' && c < 0x7f; });
}

Token token_of(const config::BrokerConfig& config) {
    std::string token = text_of(config, kToken);
    std::string place(kToken);
    if (const std::string path = text_of(config, kTokenFile); !path.empty()) {
        if (!token.empty()) {
            return std::unexpected("partita.http.token and partita.http.token.file are both set: use one of them");
        }
        auto content = tls::read_store_file(path);
        place = std::string(kTokenFile) + ": " + path;
        if (!content) {
            return std::unexpected("cannot read " + place + ": " + content.error());
        }
        token = content->substr(0, content->find_first_of("\r\n"));
        authentication::wipe(*content);
        if (token.empty()) {
            return std::unexpected(place + " has no token in its first line");
        }
    }
    if (token.empty()) {
        return token;
    }
    if (token.size() < Gate::kTokenBytesMin || token.size() > Gate::kTokenBytesMax || !can_be_sent(token)) {
        authentication::wipe(token);
        return std::unexpected(place + ": a token has " + std::to_string(Gate::kTokenBytesMin) + " to " +
                               std::to_string(Gate::kTokenBytesMax) +
                               " letters, digits and signs, such as: openssl rand -hex 32");
    }
    return token;
}

access::PrincipalPointer principal_of(const config::BrokerConfig& config) {
    const std::string text = text_of(config, "partita.http.principal");
    const std::size_t colon = text.find(':');
    return std::make_shared<access::Principal>(text.substr(0, colon), text.substr(colon + 1));
}

std::expected<std::shared_ptr<boost::asio::ssl::context>, std::string> tls_of(const config::BrokerConfig& config) {
    const config::ListenerConfigs configs(config, kName);
    const auto material =
        tls::load_key_material({.value = [&](std::string_view key) -> std::optional<std::string> {
                                    // The truststore of Kafka's clients does not apply here.
                                    return key.starts_with("ssl.truststore.") ? std::nullopt : configs.text(key);
                                },
                                .name_of = [&](std::string_view key) { return configs.name_of(key); },
                                .read_file = tls::read_store_file});
    PARTITA_TRY(material);
    if (material->keys.empty()) {
        return std::unexpected(
            "partita.http.listener begins with https:// but has no key: set ssl.keystore.location or "
            "listener.name.http.ssl.keystore.location");
    }
    auto context = std::make_shared<boost::asio::ssl::context>(boost::asio::ssl::context::tls_server);
    SSL_CTX* const native = context->native_handle();
    if (!tls::use_key(*native, material->keys.front()) || SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) != 1) {
        return std::unexpected("cannot use the key of the HTTP side: " + tls::take_openssl_reason());
    }
    // For clients without tickets; OpenSSL would keep 20,000 sessions.
    constexpr long kSessionsMax = 64;
    SSL_CTX_sess_set_cache_size(native, kSessionsMax);
    SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    // Keeps idle connections of a console cheap.
    SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
    return context;
}

}  // namespace

std::expected<HttpSecurity, std::string> load_http_security(const config::BrokerConfig& config) {
    PARTITA_TRY_ASSIGN(auto token, token_of(config));
    HttpSecurity security{.gate = Gate({.token = std::move(token),
                                        .bearer = principal_of(config),
                                        .is_open = config.http_without_token != config::HttpWithoutToken::health}),
                          .tls = nullptr};
    if (config.http_has_tls) {
        PARTITA_TRY_ASSIGN(security.tls, tls_of(config));
    }
    return security;
}

}  // namespace partita::http
