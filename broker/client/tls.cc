#include "broker/client/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/client/librdkafka_names.h"
#include "broker/tls/key_material.h"
#include "broker/tls/openssl.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

using Kind = TransportFailure::Kind;
using Properties = std::map<std::string, std::string>;

constexpr std::string_view kIdentification = "ssl.endpoint.identification.algorithm";
/// librdkafka's setting; false trusts any certificate.
constexpr std::string_view kVerification = "enable.ssl.certificate.verification";
/// Size of one read: more than a TLS record.
constexpr std::size_t kPieceBytes = 32 * 1024;

std::unexpected<Failure> refuse_tls_setting(std::string message) {
    return std::unexpected(Failure{.kind = Failure::Kind::bad_setting, .message = std::move(message)});
}

std::unexpected<TransportFailure> failed(Kind kind, std::string message) {
    return std::unexpected(TransportFailure{kind, std::move(message)});
}

std::optional<std::string> value_of(const Properties& properties, std::string_view name) {
    const auto found = properties.find(std::string(name));
    return found == properties.end() ? std::nullopt : std::optional(found->second);
}

tls::StoreConfigs stores_of(const JavaSettings& settings) {
    return {.value = [&settings](std::string_view key) { return value_of(settings.properties, key); },
            .name_of = [&settings](std::string_view key) { return settings.given_name(key); },
            .read_file = tls::read_store_file};
}

struct ProtocolRange {
    int first = TLS1_2_VERSION;
    int last = TLS1_3_VERSION;
};

Result<ProtocolRange> protocols_of(const Properties& properties) {
    const auto text = value_of(properties, "ssl.enabled.protocols");
    if (!text || text->empty()) {
        return ProtocolRange{};
    }
    ProtocolRange range{.first = TLS1_3_VERSION, .last = TLS1_2_VERSION};
    std::string_view rest = *text;
    while (!rest.empty()) {
        std::string_view name = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), name.size() + 1));
        while (name.starts_with(' ')) {
            name.remove_prefix(1);
        }
        while (name.ends_with(' ')) {
            name.remove_suffix(1);
        }
        if (name != "TLSv1.2" && name != "TLSv1.3") {
            return refuse_tls_setting("ssl.enabled.protocols has " + std::string(name) + ": only TLSv1.2 and TLSv1.3 are served");
        }
        const int version = name == "TLSv1.2" ? TLS1_2_VERSION : TLS1_3_VERSION;
        range.first = std::min(range.first, version);
        range.last = std::max(range.last, version);
    }
    return range;
}

Result<bool> verifies_certificates(const Properties& properties) {
    const std::string text = value_of(properties, kVerification).value_or("true");
    if (text != "true" && text != "false") {
        return refuse_tls_setting(std::string(kVerification) + "=" + text + ": use true or false");
    }
    return text == "true";
}

bool believe(SSL_CTX& context, const std::optional<std::vector<tls::Certificate>>& trusted) {
    if (!trusted) {
        return SSL_CTX_set_default_verify_paths(&context) == 1;
    }
    X509_STORE* const store = SSL_CTX_get_cert_store(&context);
    for (const tls::Certificate& certificate : *trusted) {
        if (X509_STORE_add_cert(store, certificate.get()) != 1) {
            return false;
        }
    }
    // Java trusts any certificate in the store, whatever its issuer.
    return X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN) == 1;
}

bool is_address(const std::string& host) {
    const std::unique_ptr<ASN1_OCTET_STRING, decltype(&ASN1_OCTET_STRING_free)> address(a2i_IPADDRESS(host.c_str()),
                                                                                        &ASN1_OCTET_STRING_free);
    ERR_clear_error();
    return address != nullptr;
}

/// Sets the host name that the handshake sends and that the certificate is checked against.
bool name_host(SSL& connection, const std::string& host, bool checks_host) {
    X509_VERIFY_PARAM* const checks = SSL_get0_param(&connection);
    X509_VERIFY_PARAM_set_hostflags(checks, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (is_address(host)) {
        return !checks_host || X509_VERIFY_PARAM_set1_ip_asc(checks, host.c_str()) == 1;
    }
    return SSL_set_tlsext_host_name(&connection, host.c_str()) == 1 &&
           (!checks_host || X509_VERIFY_PARAM_set1_host(checks, host.data(), host.size()) == 1);
}

/// Why the certificate is not trusted, and what would help.
std::string distrust(long verdict, const std::string& host, const TlsAdvice& advice) {
    const std::string reason = X509_verify_cert_error_string(verdict);
    switch (verdict) {
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
            return "the server's certificate is not for " + host + ": use a name in the certificate" +
                   (advice.any_name.empty() ? "" : ", or set " + advice.any_name);
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            return "the server's certificate is not trusted (" + reason + "): name its authority's certificate with " +
                   advice.trusted;
        default:
            return "the server's certificate is not trusted (" + reason + ")";
    }
}

/// The other side's objection, after the name of OpenSSL's alert.
std::string objection(const std::string& reason, const TlsAdvice& advice) {
    const bool wants_certificate =
        reason.contains("certificate required") || reason.contains("bad certificate") || reason.contains("handshake failure");
    return "the server refuses the connection (" + reason + ")" +
           (reason.contains("alert") && wants_certificate && !advice.own_certificate.empty()
                ? ": it may need a certificate, which " + advice.own_certificate + " names"
                : "");
}

/// Encrypts and decrypts in memory the bytes that another transport moves.
class TlsTransport final : public Transport {
  public:
    TlsTransport(std::unique_ptr<Transport> plain, tls::ConnectionPointer connection, BIO& incoming, BIO& outgoing,
                 TlsAdvice advice)
        : plain_(std::move(plain)),
          connection_(std::move(connection)),
          incoming_(incoming),
          outgoing_(outgoing),
          advice_(std::move(advice)) {}

    std::expected<void, TransportFailure> shake_hands(const std::string& host, Instant deadline) {
        while (true) {
            ERR_clear_error();
            const int outcome = SSL_connect(connection_.get());
            const int state = SSL_get_error(connection_.get(), outcome);
            const std::string reason = outcome == 1 || state == SSL_ERROR_WANT_READ ? std::string() : tls::take_openssl_reason();
            auto flushed = flush(deadline);
            if (outcome == 1) {
                return flushed;
            }
            if (state != SSL_ERROR_WANT_READ) {
                const long verdict = SSL_get_verify_result(connection_.get());
                return failed(Kind::untrusted, "SSL handshake failed: " +
                                                   (verdict != X509_V_OK ? distrust(verdict, host, advice_) : explained(reason)));
            }
            PARTITA_TRY(flushed);
            if (auto filled = fill(deadline); !filled) {
                if (filled.error().kind != Kind::closed) {
                    return filled;
                }
                return failed(Kind::closed,
                              "the connection ended in the middle of the TLS handshake; perhaps this port does not speak TLS");
            }
        }
    }

    std::expected<void, TransportFailure> send(Bytes bytes, Instant deadline) override {
        while (!bytes.empty()) {
            ERR_clear_error();
            const int size = static_cast<int>(std::min<std::size_t>(bytes.size(), std::numeric_limits<int>::max()));
            const int written = SSL_write(connection_.get(), bytes.data(), size);
            if (written > 0) {
                bytes = bytes.subspan(static_cast<std::size_t>(written));
                PARTITA_TRY(flush(deadline));
            } else if (auto moved = go_on(written, deadline); !moved) {
                return moved;
            }
        }
        return {};
    }

    std::expected<std::size_t, TransportFailure> receive(MutableBytes room, Instant deadline) override {
        while (true) {
            ERR_clear_error();
            const int size = static_cast<int>(std::min<std::size_t>(room.size(), std::numeric_limits<int>::max()));
            const int got = SSL_read(connection_.get(), room.data(), size);
            if (got > 0) {
                return static_cast<std::size_t>(got);
            }
            PARTITA_TRY(go_on(got, deadline));
        }
    }

  private:
    std::string explained(const std::string& reason) const {
        if (reason.contains("wrong version number") || reason.contains("packet length too long")) {
            return "the server does not speak TLS" + (advice_.other_listener.empty() ? "" : "; " + advice_.other_listener);
        }
        return objection(reason, advice_);
    }

    /// After a call that did not succeed: does the I/O that OpenSSL waits for.
    std::expected<void, TransportFailure> go_on(int outcome, Instant deadline) {
        switch (SSL_get_error(connection_.get(), outcome)) {
            case SSL_ERROR_WANT_READ: {
                // OpenSSL may have to answer a handshake message first (TLS 1.3, key update).
                PARTITA_TRY(flush(deadline));
                return fill(deadline);
            }
            case SSL_ERROR_WANT_WRITE:
                return flush(deadline);
            case SSL_ERROR_ZERO_RETURN:
                return failed(Kind::closed, "the other side closed the connection");
            default:
                return failed(Kind::untrusted, "SSL connection failed: " + objection(tls::take_openssl_reason(), advice_));
        }
    }

    std::expected<void, TransportFailure> flush(Instant deadline) {
        char* bytes = nullptr;
        const long size = BIO_get_mem_data(&outgoing_, &bytes);
        if (size <= 0) {
            return {};
        }
        auto sent = plain_->send({reinterpret_cast<const std::byte*>(bytes), static_cast<std::size_t>(size)}, deadline);
        BIO_reset(&outgoing_);
        return sent;
    }

    std::expected<void, TransportFailure> fill(Instant deadline) {
        PARTITA_TRY_ASSIGN(const auto got, plain_->receive(piece_, deadline));
        if (BIO_write(&incoming_, piece_.data(), static_cast<int>(got)) != static_cast<int>(got)) {
            return failed(Kind::broken, "no memory for received data");
        }
        return {};
    }

    std::unique_ptr<Transport> plain_;
    tls::ConnectionPointer connection_;
    /// Owned by the connection.
    BIO& incoming_;
    BIO& outgoing_;
    const TlsAdvice advice_;
    std::vector<std::byte> piece_ = std::vector<std::byte>(kPieceBytes);
};

}  // namespace

struct Tls::Parts {
    tls::ContextPointer context;
    bool checks_host = true;
    TlsAdvice advice;
};

Tls::Tls(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Tls::~Tls() = default;

Result<std::shared_ptr<const Tls>> Tls::of(const Properties& given, TlsAdvice advice) {
    PARTITA_TRY_ASSIGN(const auto settings, in_javas_names(given));
    const Properties& properties = settings.properties;
    auto parts = std::make_unique<Parts>();
    parts->advice = std::move(advice);
    const auto identification = value_of(properties, kIdentification);
    std::string algorithm = identification.value_or("https");
    std::ranges::transform(algorithm, algorithm.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    // Java's checker has this value and LDAPS; librdkafka uses "none".
    if (!algorithm.empty() && algorithm != "https" && algorithm != "none") {
        return refuse_tls_setting(std::string(kIdentification) + "=" + *identification + " is not served: use https or nothing");
    }
    PARTITA_TRY_ASSIGN(const auto verifies, verifies_certificates(properties));
    parts->checks_host = algorithm == "https" && verifies;
    PARTITA_TRY_ASSIGN(const auto protocols, protocols_of(properties));
    const auto material = tls::load_key_material(stores_of(settings));
    if (!material) {
        return refuse_tls_setting(material.error());
    }

    parts->context.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX* const context = parts->context.get();
    if (context == nullptr || SSL_CTX_set_min_proto_version(context, protocols.first) != 1 ||
        SSL_CTX_set_max_proto_version(context, protocols.last) != 1) {
        return refuse_tls_setting("cannot use OpenSSL: " + tls::take_openssl_reason());
    }
    SSL_CTX_set_verify(context, verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    SSL_CTX_set_mode(context, SSL_MODE_AUTO_RETRY);
    // There is one connection to each broker, so there is nothing to resume.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    if (!believe(*context, material->trusted)) {
        return refuse_tls_setting("cannot use the trusted certificates: " + tls::take_openssl_reason());
    }
    if (!material->keys.empty() && !tls::use_key(*context, material->keys.front())) {
        return refuse_tls_setting("cannot use the key of ssl.keystore: " + tls::take_openssl_reason());
    }
    return std::shared_ptr<const Tls>(new Tls(std::move(parts)));
}

std::expected<std::unique_ptr<Transport>, TransportFailure> Tls::secure(std::unique_ptr<Transport> plain, const std::string& host,
                                                                        Instant deadline) const {
    tls::ConnectionPointer connection(SSL_new(parts_->context.get()));
    BIO* const incoming = BIO_new(BIO_s_mem());
    BIO* const outgoing = BIO_new(BIO_s_mem());
    if (!connection || incoming == nullptr || outgoing == nullptr || !name_host(*connection, host, parts_->checks_host)) {
        BIO_free(incoming);
        BIO_free(outgoing);
        return failed(Kind::broken, "cannot begin TLS: " + tls::take_openssl_reason());
    }
    SSL_set_bio(connection.get(), incoming, outgoing);
    auto transport =
        std::make_unique<TlsTransport>(std::move(plain), std::move(connection), *incoming, *outgoing, parts_->advice);
    PARTITA_TRY(transport->shake_hands(host, deadline));
    return transport;
}

}  // namespace partita::client
