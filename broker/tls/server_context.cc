#include "broker/tls/server_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "broker/tls/distinguished_name.h"
#include "protocol/try.h"

namespace partita::tls {

struct ServerContext::Parts {
    KeyMaterial material;
    ServerSettings settings;
    /// The chains without their first certificates, in the order of the keys.
    std::vector<std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509)*)>> issuers;
    ContextPointer context;

    /// OpenSSL's callback that chooses a certificate after the client's first message.
    static int choose_certificate(SSL* connection, void* argument);
};

namespace {

using Verdict = std::expected<void, std::string>;
using Failure = std::unexpected<std::string>;

void free_stack(STACK_OF(X509) * stack) { sk_X509_free(stack); }

/// Sets the lowest and highest enabled version: with two versions there are none between.
Verdict set_versions(SSL_CTX& context, const std::vector<std::string>& protocols) {
    constexpr std::array<std::string_view, 4> kDisabled{"SSLv2Hello", "SSLv3", "TLSv1", "TLSv1.1"};
    bool has_12 = protocols.empty();
    bool has_13 = protocols.empty();
    for (const std::string& name : protocols) {
        if (name == "TLSv1.2") {
            has_12 = true;
        } else if (name == "TLSv1.3") {
            has_13 = true;
        } else if (std::ranges::find(kDisabled, name) == kDisabled.end()) {
            return Failure("ssl.enabled.protocols: unknown version " + printable(name) + "; use TLSv1.2 or TLSv1.3");
        }
    }
    if (!has_12 && !has_13) {
        return Failure("ssl.enabled.protocols: no version is served; use TLSv1.2 or TLSv1.3");
    }
    SSL_CTX_set_min_proto_version(&context, has_12 ? TLS1_2_VERSION : TLS1_3_VERSION);
    SSL_CTX_set_max_proto_version(&context, has_13 ? TLS1_3_VERSION : TLS1_2_VERSION);
    return {};
}

Verdict set_cipher_suites(SSL_CTX& context, const std::vector<std::string>& suites) {
    if (suites.empty()) {
        return {};
    }
    constexpr std::array<std::string_view, 5> kOfTls13{"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
                                                       "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_CCM_SHA256",
                                                       "TLS_AES_128_CCM_8_SHA256"};
    std::string of_13;
    std::string of_12;
    for (const std::string& name : suites) {
        if (name == "TLS_EMPTY_RENEGOTIATION_INFO_SCSV") {
            continue;  // A signal, not a suite.
        }
        const bool is_13 = std::ranges::find(kOfTls13, name) != kOfTls13.end();
        // Java uses another prefix for the oldest ones.
        const std::string standard = name.starts_with("SSL_") ? "TLS_" + name.substr(4) : name;
        const std::string known = is_13 ? name : OPENSSL_cipher_name(standard.c_str());
        if (known == "(NONE)") {
            return Failure("ssl.cipher.suites: unknown cipher suite " + printable(name));
        }
        std::string& list = is_13 ? of_13 : of_12;
        list += (list.empty() ? "" : ":") + known;
    }
    if (SSL_CTX_set_ciphersuites(&context, of_13.c_str()) != 1) {
        return Failure("ssl.cipher.suites: cannot use " + of_13 + ": " + take_openssl_reason());
    }
    if (!of_12.empty() && SSL_CTX_set_cipher_list(&context, of_12.c_str()) != 1) {
        return Failure("ssl.cipher.suites: cannot use " + of_12 + ": " + take_openssl_reason());
    }
    // TLS 1.2 without a cipher could not be negotiated.
    if (of_12.empty()) {
        SSL_CTX_set_min_proto_version(&context, TLS1_3_VERSION);
    }
    if (of_13.empty()) {
        SSL_CTX_set_max_proto_version(&context, TLS1_2_VERSION);
    }
    if (SSL_CTX_get_max_proto_version(&context) < SSL_CTX_get_min_proto_version(&context)) {
        return Failure("ssl.cipher.suites has no suite for the versions of ssl.enabled.protocols");
    }
    return {};
}

/// The least size of an RSA or DSA key that Java 17 accepts (jdk.certpath.disabledAlgorithms), in bits.
constexpr int kFactorBitsMin = 1024;

/// Java 17 refuses these keys. It knows only three curves.
bool is_weak_key(const X509& certificate) {
    const EVP_PKEY* const key = X509_get0_pubkey(&certificate);
    if (key == nullptr) {
        return true;
    }
    switch (EVP_PKEY_get_base_id(key)) {
        case EVP_PKEY_RSA:
        case EVP_PKEY_RSA_PSS:
        case EVP_PKEY_DSA:
            return EVP_PKEY_get_bits(key) < kFactorBitsMin;
        case EVP_PKEY_EC: {
            char name[32] = {};
            std::size_t size = 0;
            constexpr std::string_view kCurves[] = {"prime256v1", "secp384r1", "secp521r1"};
            return EVP_PKEY_get_group_name(key, name, sizeof name, &size) != 1 ||
                   std::ranges::find(kCurves, std::string_view(name, size)) == std::end(kCurves);
        }
        default:
            return false;
    }
}

/// Java 17 refuses these signatures. It takes SHA-1 below authorities that a trust store names.
bool has_weak_signature(X509& certificate) {
    int digest = NID_undef;
    return X509_get_signature_info(&certificate, &digest, nullptr, nullptr, nullptr) != 1 || digest == NID_md2 ||
           digest == NID_md5;
}

/// Judges a client's chain by Java's rules for signatures and keys, which are older than OpenSSL's.
int verify_client(X509_STORE_CTX* chain, void* /*unused*/) {
    X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(chain), 0);
    if (X509_verify_cert(chain) != 1) {
        return 0;
    }
    // The last one is trusted for what it is: its signature does not matter, but its key has signed the one before. A client's
    // certificate that is trusted itself needs no judgement.
    const STACK_OF(X509)* const verified = X509_STORE_CTX_get0_chain(chain);
    const int count = sk_X509_num(verified);
    for (int at = 0; at < count && count > 1; ++at) {
        X509& certificate = *sk_X509_value(verified, at);
        const bool is_weak = is_weak_key(certificate);
        if (is_weak || (at + 1 < count && has_weak_signature(certificate))) {
            const int weakness = at == 0 ? X509_V_ERR_EE_KEY_TOO_SMALL : X509_V_ERR_CA_KEY_TOO_SMALL;
            X509_STORE_CTX_set_error(chain, is_weak ? weakness : X509_V_ERR_CA_MD_TOO_WEAK);
            return 0;
        }
    }
    return 1;
}

Verdict set_trust(SSL_CTX& context, const KeyMaterial& material, ClientAuth client_auth) {
    if (client_auth == ClientAuth::none) {
        SSL_CTX_set_verify(&context, SSL_VERIFY_NONE, nullptr);
        return {};
    }
    const int mode = SSL_VERIFY_PEER | (client_auth == ClientAuth::required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0);
    SSL_CTX_set_verify(&context, mode, nullptr);
    SSL_CTX_set_cert_verify_callback(&context, verify_client, nullptr);
    if (!material.trusted) {
        if (SSL_CTX_set_default_verify_paths(&context) != 1) {
            return Failure("cannot use the certificates of the machine: " + take_openssl_reason());
        }
        return {};
    }
    X509_STORE* const store = SSL_CTX_get_cert_store(&context);
    // Trust every certificate in the store, even if another one issued it.
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
    for (const Certificate& each : *material.trusted) {
        if (X509_STORE_add_cert(store, each.get()) != 1 || SSL_CTX_add_client_CA(&context, each.get()) != 1) {
            return Failure("cannot use a trusted certificate: " + take_openssl_reason());
        }
    }
    return {};
}

using SecurityCallback = int (*)(const SSL*, const SSL_CTX*, int, int, int, void*, void*);

/// OpenSSL's own judgement of versions, ciphers and certificates.
SecurityCallback openssl_security() {
    static const SecurityCallback kOriginal = [] {
        const ContextPointer context(SSL_CTX_new(TLS_server_method()));
        return context == nullptr ? nullptr : SSL_CTX_get_security_callback(context.get());
    }();
    return kOriginal;
}

/// Lets the broker show a certificate with an old signature (SHA-1) or a short key, as Java does: the client judges it.
/// `verify_client` judges the certificates of clients. Everything else follows OpenSSL.
int allow_certificates(const SSL* connection, const SSL_CTX* context, int operation, int bits, int nid, void* other, void* more) {
    switch (operation & ~SSL_SECOP_PEER) {
        case SSL_SECOP_EE_KEY:
        case SSL_SECOP_CA_KEY:
        case SSL_SECOP_CA_MD:
            return 1;
        default:
            break;
    }
    return openssl_security()(connection, context, operation, bits, nid, other, more);
}

bool is_for(const KeyEntry& entry, const char* name) {
    return X509_check_host(entry.chain.front().get(), name, 0, 0, nullptr) == 1;
}

/// Uses the keys for which `is_chosen`, the first of each kind. Returns false if OpenSSL refuses one.
template <class Use>
bool use_keys(const std::vector<KeyEntry>& keys, const std::vector<bool>& is_chosen, const Use& use) {
    std::set<int> kinds;
    for (std::size_t index = 0; index < keys.size(); ++index) {
        if (is_chosen[index] && kinds.insert(EVP_PKEY_get_base_id(keys[index].key.get())).second && !use(index)) {
            return false;
        }
    }
    return true;
}

}  // namespace

int ServerContext::Parts::choose_certificate(SSL* connection, void* argument) {
    const auto& [material, settings, issuers, context] = *static_cast<const Parts*>(argument);
    const char* const name = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
    if (name == nullptr) {
        return 1;
    }
    std::vector<bool> fits;
    for (const KeyEntry& entry : material.keys) {
        fits.push_back(is_for(entry, name));
    }
    if (std::ranges::find(fits, true) == fits.end()) {
        return 1;
    }
    SSL_certs_clear(connection);
    return use_keys(material.keys, fits, [&](std::size_t index) {
        const KeyEntry& entry = material.keys[index];
        return SSL_use_cert_and_key(connection, entry.chain.front().get(), entry.key.get(), issuers[index].get(), 1) == 1;
    });
}

ServerContext::ServerContext(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ServerContext::~ServerContext() = default;

std::expected<std::shared_ptr<const ServerContext>, std::string> ServerContext::make(KeyMaterial material,
                                                                                     ServerSettings settings) {
    if (material.keys.empty()) {
        return Failure(
            "the key store is missing: set ssl.keystore.location and ssl.keystore.password, or, with "
            "ssl.keystore.type=PEM, ssl.keystore.key and ssl.keystore.certificate.chain");
    }
    if (material.keys.size() > kKeysMax) {
        return Failure("the key store has more than " + std::to_string(kKeysMax) + " keys");
    }
    auto parts = std::make_unique<Parts>(
        Parts{.material = std::move(material), .settings = std::move(settings), .issuers = {}, .context = nullptr});
    parts->context.reset(SSL_CTX_new(TLS_server_method()));
    if (parts->context == nullptr) {
        return Failure("cannot use TLS: " + take_openssl_reason());
    }
    SSL_CTX& context = *parts->context;
    if (openssl_security() != nullptr) {
        SSL_CTX_set_security_callback(&context, allow_certificates);
    }
    SSL_CTX_set_options(&context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                      SSL_OP_ENABLE_KTLS | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(&context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_sess_set_cache_size(&context, kSessionsMax);
    constexpr std::string_view kSessions = "partita";
    SSL_CTX_set_session_id_context(&context, reinterpret_cast<const unsigned char*>(kSessions.data()), kSessions.size());
    if (auto set = set_versions(context, parts->settings.protocols); !set) {
        return Failure(std::move(set.error()));
    }
    if (auto set = set_cipher_suites(context, parts->settings.cipher_suites); !set) {
        return Failure(std::move(set.error()));
    }
    if (auto set = set_trust(context, parts->material, parts->settings.client_auth); !set) {
        return Failure(std::move(set.error()));
    }
    for (const KeyEntry& entry : parts->material.keys) {
        auto& issuers = parts->issuers.emplace_back(sk_X509_new_null(), free_stack);
        for (std::size_t at = 1; at < entry.chain.size(); ++at) {
            sk_X509_push(issuers.get(), entry.chain[at].get());
        }
    }
    std::string alias;
    const std::vector<bool> all(parts->material.keys.size(), true);
    const bool is_used = use_keys(parts->material.keys, all, [&](std::size_t index) {
        const KeyEntry& entry = parts->material.keys[index];
        alias = entry.alias;
        return SSL_CTX_use_cert_and_key(&context, entry.chain.front().get(), entry.key.get(), parts->issuers[index].get(), 1) ==
               1;
    });
    if (!is_used) {
        return Failure("cannot use the key \"" + alias + "\" of the key store: " + take_openssl_reason());
    }
    if (parts->material.keys.size() > 1) {
        SSL_CTX_set_cert_cb(&context, Parts::choose_certificate, parts.get());
    }
    return std::shared_ptr<const ServerContext>(new ServerContext(std::move(parts)));
}

ConnectionPointer ServerContext::connect(int descriptor) const {
    ConnectionPointer connection(SSL_new(parts_->context.get()));
    if (connection == nullptr || SSL_set_fd(connection.get(), descriptor) != 1) {
        ERR_clear_error();
        return nullptr;
    }
    SSL_set_accept_state(connection.get());
    return connection;
}

std::expected<void, std::string> ServerContext::check_certificate(const SSL& connection) {
    const X509* const shown = SSL_get0_peer_certificate(&connection);
    // A resumed session checks no certificate, and may outlive it.
    if (shown != nullptr && X509_cmp_current_time(X509_get0_notAfter(shown)) < 0) {
        return Failure("the client's certificate has expired");
    }
    return {};
}

std::expected<std::optional<std::string>, std::string> ServerContext::client_of(const SSL& connection) const {
    const X509* const shown = SSL_get0_peer_certificate(&connection);
    if (shown == nullptr) {
        return std::nullopt;
    }
    PARTITA_TRY(check_certificate(connection));
    const std::string name = distinguished_name(*X509_get_subject_name(shown));
    auto mapped = parts_->settings.rules.name_of(name);
    if (!mapped) {
        return Failure("no rule of ssl.principal.mapping.rules matches the client's name " + printable(name));
    }
    return mapped;
}

namespace {

/// Advice about the error; empty if the reason says enough.
std::string advice_for(unsigned long error, long verified) {
    if (ERR_GET_LIB(error) != ERR_LIB_SSL) {
        return {};
    }
    switch (ERR_GET_REASON(error)) {
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            return std::string(": ") + X509_verify_cert_error_string(verified) +
                   " (ssl.truststore holds the certificates that the broker trusts)";
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            return " (ssl.client.auth=required, but the client has no certificate that the broker trusts)";
        case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
        case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
            return " (the client does not trust the broker's certificate)";
        case SSL_R_UNSUPPORTED_PROTOCOL:
        case SSL_R_VERSION_TOO_LOW:
        case SSL_R_WRONG_VERSION_NUMBER:
            return " (the client offers no version of ssl.enabled.protocols)";
        case SSL_R_NO_SHARED_CIPHER:
            return " (client and broker have no cipher suite in common; ssl.cipher.suites)";
        default:
            return {};
    }
}

}  // namespace

namespace {

/// Counts a record that came after the handshake. OpenSSL reads on until there is data, so a client that sends none could occupy
/// the thread without end. So the connection ends after too many key updates and refused handshakes.
void note_record(int is_written, int /*version*/, int what, const void* bytes, std::size_t size, SSL* connection, void*) {
    // In TLS 1.3 a record contains its real type.
    const int type_of_record = SSL_version(connection) == TLS1_3_VERSION ? SSL3_RT_INNER_CONTENT_TYPE : SSL3_RT_HEADER;
    if (is_written != 0 || what != type_of_record || size == 0) {
        return;
    }
    const bool is_data = *static_cast<const unsigned char*>(bytes) == SSL3_RT_APPLICATION_DATA;
    const auto before = reinterpret_cast<std::uintptr_t>(SSL_get_app_data(connection));
    if (is_data && before == 0) {
        return;
    }
    const std::uintptr_t now = is_data ? 0 : before + 1;
    SSL_set_app_data(connection, reinterpret_cast<void*>(now));
    if (now > kRecordsWithoutDataMax) {
        SSL_set_shutdown(connection, SSL_get_shutdown(connection) | SSL_RECEIVED_SHUTDOWN);
    }
}

}  // namespace

HandshakeStep shake_hands(SSL& connection) {
    using Status = HandshakeStep::Status;
    ERR_clear_error();
    const int result = SSL_do_handshake(&connection);
    if (result == 1) {
        SSL_set_msg_callback(&connection, note_record);
        return {};
    }
    switch (SSL_get_error(&connection, result)) {
        case SSL_ERROR_WANT_READ:
            return {Status::wants_to_receive, {}};
        case SSL_ERROR_WANT_WRITE:
            return {Status::wants_to_send, {}};
        case SSL_ERROR_SSL:
            break;
        default:
            ERR_clear_error();
            return {Status::gone, {}};
    }
    const unsigned long error = ERR_peek_error();
    const std::string advice = advice_for(error, SSL_get_verify_result(&connection));
    return {Status::failed, take_openssl_reason() + advice};
}

std::optional<std::string> why_no_handshake(std::string_view first_bytes) {
    constexpr std::string_view kHandshake("\x16\x03", 2);
    if (first_bytes.empty() || kHandshake.starts_with(first_bytes.substr(0, 2)) || first_bytes.starts_with(kHandshake)) {
        return std::nullopt;
    }
    for (const std::string_view method : {"GET ", "POST ", "HEAD ", "PUT ", "OPTIONS ", "DELETE ", "PRI "}) {
        if (first_bytes.starts_with(method.substr(0, first_bytes.size()))) {
            return "an HTTP request without TLS came to the Kafka port";
        }
    }
    // A Kafka request begins with its size, and the first bytes of every first request's size are zero.
    if (first_bytes.front() == '\0') {
        return "the client does not speak TLS (its security.protocol is PLAINTEXT or SASL_PLAINTEXT, the listener's is not)";
    }
    return "the client sent no TLS handshake";
}

}  // namespace partita::tls
