#include "broker/tls/server_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "broker/tls/distinguished_name.h"
#include "broker/tls/pem.h"
#include "tests/unit/tls/stores.h"
#include "tests/unit/tls/tls_client.h"

namespace partita::tls {
namespace {

using test::configs_of;
using test::store_path;
using test::store_text;
using test::TlsClient;
using ::testing::HasSubstr;

KeyMaterial server_material() {
    return load_key_material(configs_of({{"ssl.keystore.type", "PEM"},
                                         {"ssl.keystore.key", store_text("server.key")},
                                         {"ssl.keystore.certificate.chain", store_text("chain.pem")},
                                         {"ssl.truststore.type", "PEM"},
                                         {"ssl.truststore.certificates", store_text("ca.pem")}}))
        .value();
}

/// A key with a certificate that it signed itself.
KeyEntry self_signed(const char* name, const char* host, int days = 1) {
    KeyEntry entry;
    entry.alias = name;
    entry.key.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
    Certificate certificate(X509_new());
    X509_set_version(certificate.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -2 * 86'400L);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), days * 86'400L);
    X509_NAME* const subject = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    X509_set_issuer_name(certificate.get(), subject);
    X509_set_pubkey(certificate.get(), entry.key.get());
    if (host != nullptr) {
        X509_EXTENSION* const names =
            X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, ("DNS:" + std::string(host)).c_str());
        X509_add_ext(certificate.get(), names, -1);
        X509_EXTENSION_free(names);
    }
    X509_sign(certificate.get(), entry.key.get(), EVP_sha256());
    entry.chain.push_back(std::move(certificate));
    return entry;
}

/// The same key with a certificate that an authority signed by SHA-1, as scripts of long ago made them.
KeyEntry signed_by_sha1(const KeyEntry& authority) {
    KeyEntry entry = self_signed("old", "old.example");
    X509& certificate = *entry.chain.front();
    X509_set_issuer_name(&certificate, X509_get_subject_name(authority.chain.front().get()));
    X509_sign(&certificate, authority.key.get(), EVP_sha1());
    return entry;
}

/// An authority, and a client's key of a kind with a certificate that the authority signed by a digest.
struct SignedClient {
    KeyEntry authority;
    KeyEntry client;
};
SignedClient signed_client(const EVP_MD* digest, EVP_PKEY* key, std::size_t authority_bits) {
    SignedClient made{.authority = self_signed("authority", nullptr), .client = self_signed("client", nullptr)};
    X509& root = *made.authority.chain.front();
    // No curve signs by MD5.
    made.authority.key.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", authority_bits));
    X509_set_pubkey(&root, made.authority.key.get());
    X509_EXTENSION* const is_authority = X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE");
    X509_add_ext(&root, is_authority, -1);
    X509_EXTENSION_free(is_authority);
    X509_sign(&root, made.authority.key.get(), EVP_sha256());
    X509& certificate = *made.client.chain.front();
    made.client.key.reset(key);
    X509_set_pubkey(&certificate, key);
    X509_set_issuer_name(&certificate, X509_get_subject_name(&root));
    X509_sign(&certificate, made.authority.key.get(), digest);
    return made;
}

std::shared_ptr<const ServerContext> context_with(ServerSettings settings, KeyMaterial material = server_material()) {
    auto made = ServerContext::make(std::move(material), std::move(settings));
    EXPECT_TRUE(made) << (made ? "" : made.error());
    return made ? *made : nullptr;
}

std::string error_with(ServerSettings settings, KeyMaterial material = server_material()) {
    const auto made = ServerContext::make(std::move(material), std::move(settings));
    return made ? "none" : made.error();
}

/// Both ends of a connection, in one thread.
class Handshake {
  public:
    Handshake(const ServerContext& context, const TlsClient::Wishes& wishes) : context_(context) {
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets_.data()), 0);
        server_ = context.connect(sockets_[0]);
        client_ = std::make_unique<TlsClient>(sockets_[1], wishes);
        for (int step = 0; step < 20 && !is_over(); ++step) {
            if (client_result_ == 0) {
                client_result_ = client_->go_on();
            }
            if (!is_over()) {
                result_ = shake_hands(*server_);
            }
        }
    }
    ~Handshake() {
        for (const int each : sockets_) {
            ::close(each);
        }
    }

    [[nodiscard]] const HandshakeStep& result() const { return result_; }
    [[nodiscard]] TlsClient& client() { return *client_; }
    [[nodiscard]] SSL& server() { return *server_; }
    [[nodiscard]] std::expected<std::optional<std::string>, std::string> client_name() const {
        return context_.client_of(*server_);
    }

  private:
    [[nodiscard]] bool is_over() const {
        return result_.status == HandshakeStep::Status::failed || result_.status == HandshakeStep::Status::gone ||
               (result_.status == HandshakeStep::Status::complete && client_result_ != 0);
    }

    const ServerContext& context_;
    std::array<int, 2> sockets_{-1, -1};
    ConnectionPointer server_;
    std::unique_ptr<TlsClient> client_;
    int client_result_ = 0;
    HandshakeStep result_{HandshakeStep::Status::wants_to_receive, {}};
};

using Status = HandshakeStep::Status;

TEST(ServerContext, ClientThatBelievesTheAuthorityIsConnected) {
    const auto context = context_with({});
    const auto authority = parse_pem_certificates(store_text("ca.pem")).value();
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        Handshake done(*context, {.trusted = authority[0].get(), .version_min = version, .version_max = version});
        ASSERT_EQ(done.result().status, Status::complete) << done.result().reason;
        EXPECT_EQ(SSL_version(&done.server()), version);
        EXPECT_EQ(done.client_name().value(), std::nullopt);
    }
}

TEST(ServerContext, OldVersionsAreRefusedWithAReason) {
    Handshake old(*context_with({}), {.version_min = TLS1_1_VERSION, .version_max = TLS1_1_VERSION});
    EXPECT_EQ(old.result().status, Status::failed);
    EXPECT_THAT(old.result().reason, HasSubstr("unsupported protocol (the client offers no version of ssl.enabled.protocols)"));
    Handshake only_13(*context_with({.protocols = {"TLSv1.3"}}), {.version_max = TLS1_2_VERSION});
    EXPECT_EQ(only_13.result().status, Status::failed);
    Handshake only_12(*context_with({.protocols = {"TLSv1.2", "TLSv1.1"}}), {});
    ASSERT_EQ(only_12.result().status, Status::complete);
    EXPECT_EQ(SSL_version(&only_12.server()), TLS1_2_VERSION);
}

TEST(ServerContext, CipherSuitesHaveJavasNames) {
    const auto context = context_with({.cipher_suites = {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256"}});
    Handshake tls_12(*context, {.version_max = TLS1_2_VERSION});
    ASSERT_EQ(tls_12.result().status, Status::complete);
    EXPECT_STREQ(SSL_get_cipher_name(&tls_12.server()), "ECDHE-ECDSA-AES256-GCM-SHA384");
    Handshake tls_13(*context, {});
    ASSERT_EQ(tls_13.result().status, Status::complete);
    EXPECT_STREQ(SSL_get_cipher_name(&tls_13.server()), "TLS_AES_128_GCM_SHA256");
    Handshake other(*context, {.version_max = TLS1_2_VERSION, .ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256"});
    EXPECT_THAT(other.result().reason, HasSubstr("no shared cipher"));
    // The server does not offer a version for which no suite is left.
    Handshake without_12(*context_with({.cipher_suites = {"TLS_AES_128_GCM_SHA256"}}), {.version_max = TLS1_2_VERSION});
    EXPECT_EQ(without_12.result().status, Status::failed);
}

TEST(ServerContext, OldSignatureOfTheBrokerIsForClientsToJudgeAsWithJava) {
    const KeyEntry authority = self_signed("authority", nullptr);
    std::vector<KeyEntry> keys;
    keys.push_back(signed_by_sha1(authority));
    const auto context = context_with({}, {.keys = std::move(keys), .trusted = {}});
    ASSERT_NE(context, nullptr);
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        Handshake done(*context, {.version_min = version, .version_max = version});
        EXPECT_EQ(done.result().status, Status::complete) << done.result().reason;
    }
}

HandshakeStep shown_to_broker(const EVP_MD* digest, EVP_PKEY* key, std::size_t authority_bits = 2048) {
    SignedClient made = signed_client(digest, key, authority_bits);
    KeyMaterial material = server_material();
    material.trusted.emplace();
    material.trusted->push_back(std::move(made.authority.chain.front()));
    const auto context = context_with({.client_auth = ClientAuth::required}, std::move(material));
    // A client of long ago, which does not mind its own certificate.
    return Handshake(*context, {.key = &made.client, .version_min = TLS1_1_VERSION}).result();
}

TEST(ServerContext, OldSignaturesAndKeysOfClientsAreJudgedAsByJava17) {
    const auto curve = [] { return EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"); };
    const auto rsa = [](std::size_t bits) { return EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", bits); };
    const auto old_signature = shown_to_broker(EVP_sha1(), curve());
    EXPECT_EQ(old_signature.status, Status::complete) << old_signature.reason;
    const auto short_key = shown_to_broker(EVP_sha256(), rsa(1024));
    EXPECT_EQ(short_key.status, Status::complete) << short_key.reason;
    EXPECT_THAT(shown_to_broker(EVP_md5(), curve()).reason,
                HasSubstr("certificate verify failed: CA signature digest algorithm too weak"));
    EXPECT_THAT(shown_to_broker(EVP_sha256(), rsa(1023)).reason,
                HasSubstr("certificate verify failed: EE certificate key too weak"));
    EXPECT_THAT(shown_to_broker(EVP_sha256(), curve(), 768).reason,
                HasSubstr("certificate verify failed: CA certificate key too weak"));
}

TEST(ServerContext, ClientsCertificateSaysWhoItIs) {
    const KeyMaterial known = server_material();  // The server's own certificate, which the authority signed.
    const auto required = context_with({.client_auth = ClientAuth::required});
    Handshake shown(*required, {.key = &known.keys[0]});
    ASSERT_EQ(shown.result().status, Status::complete) << shown.result().reason;
    EXPECT_EQ(shown.client_name().value(), "CN=localhost,O=Partita");
    Handshake missing(*required, {.version_max = TLS1_2_VERSION});
    EXPECT_THAT(missing.result().reason, HasSubstr("ssl.client.auth=required"));
    const KeyEntry stranger = self_signed("stranger", nullptr);
    Handshake unknown(*required, {.key = &stranger});
    EXPECT_THAT(unknown.result().reason, HasSubstr("certificate verify failed: self-signed certificate"));
    const auto requested =
        context_with({.client_auth = ClientAuth::requested, .rules = PrincipalRules::parse("RULE:^CN=(.*?),.*$/$1/U").value()});
    Handshake anonymous(*requested, {});
    EXPECT_EQ(anonymous.client_name().value(), std::nullopt);
    Handshake mapped(*requested, {.key = &known.keys[0]});
    EXPECT_EQ(mapped.client_name().value(), "LOCALHOST");
    Handshake none(*context_with({}), {.key = &known.keys[0]});
    EXPECT_EQ(none.client_name().value(), std::nullopt) << "nobody asked for it";
}

TEST(ServerContext, ClientWhomNoRuleFitsIsNotLetIn) {
    const KeyMaterial known = server_material();
    const auto context =
        context_with({.client_auth = ClientAuth::required, .rules = PrincipalRules::parse("RULE:^CN=x$/x/").value()});
    Handshake done(*context, {.key = &known.keys[0]});
    ASSERT_EQ(done.result().status, Status::complete);
    EXPECT_EQ(done.client_name().error(),
              "no rule of ssl.principal.mapping.rules matches the client's name CN=localhost,O=Partita");
}

TEST(ServerContext, ExpiredCertificatesAreRefused) {
    KeyMaterial material = server_material();
    const KeyEntry expired = self_signed("late", nullptr, -1);
    X509_up_ref(expired.chain[0].get());
    material.trusted->emplace_back(expired.chain[0].get());
    Handshake done(*context_with({.client_auth = ClientAuth::required}, std::move(material)), {.key = &expired});
    EXPECT_THAT(done.result().reason, HasSubstr("certificate has expired"));
}

TEST(ServerContext, ClientThatDoesNotBelieveTheBrokerIsTold) {
    const KeyEntry other = self_signed("other", nullptr);
    Handshake done(*context_with({}), {.trusted = other.chain[0].get()});
    EXPECT_EQ(done.result().status, Status::failed);
    EXPECT_THAT(done.result().reason, HasSubstr("(the client does not trust the broker's certificate)"));
}

TEST(ServerContext, SessionsAreResumedUntilTheContextIsReplaced) {
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        const KeyMaterial known = server_material();
        const auto context = context_with({.client_auth = ClientAuth::required});
        Handshake first(*context, {.key = &known.keys[0], .version_max = version});
        ASSERT_EQ(first.result().status, Status::complete);
        EXPECT_EQ(first.client().receive(), "") << "takes the ticket";
        SSL_SESSION* const session = SSL_get1_session(&first.client().connection());
        Handshake again(*context, {.version_max = version, .session = session});
        ASSERT_EQ(again.result().status, Status::complete);
        EXPECT_EQ(SSL_session_reused(&again.server()), 1);
        EXPECT_EQ(again.client_name().value(), "CN=localhost,O=Partita") << "the ticket says it";
        SSL_SESSION_free(session);

        Handshake second(*context, {.key = &known.keys[0], .version_max = version});
        EXPECT_EQ(second.client().receive(), "");
        SSL_SESSION* const old = SSL_get1_session(&second.client().connection());
        const auto replaced = context_with({.client_auth = ClientAuth::required});
        Handshake later(*replaced, {.key = &known.keys[0], .version_max = version, .session = old});
        ASSERT_EQ(later.result().status, Status::complete) << later.result().reason;
        EXPECT_EQ(SSL_session_reused(&later.server()), 0);
        SSL_SESSION_free(old);
    }
}

TEST(ServerContext, RenegotiationIsRefused) {
    Handshake done(*context_with({}), {.version_max = TLS1_2_VERSION});
    ASSERT_EQ(done.result().status, Status::complete);
    SSL_renegotiate(&done.client().connection());
    EXPECT_NE(done.client().go_on(), 1);
    std::array<char, 8> room;
    std::size_t count = 0;
    EXPECT_NE(SSL_read_ex(&done.server(), room.data(), room.size(), &count), 1);
    EXPECT_EQ(done.client().go_on(), -1) << "the client was told that there is none";
}

std::string name_shown_for(const ServerContext& context, const char* server_name) {
    Handshake done(context, {.server_name = server_name});
    EXPECT_EQ(done.result().status, Status::complete) << done.result().reason;
    const X509* const shown = SSL_get0_peer_certificate(&done.client().connection());
    return shown == nullptr ? "" : distinguished_name(*X509_get_subject_name(shown));
}

TEST(ServerContext, ServerNameChoosesTheCertificate) {
    KeyMaterial material;
    material.keys.push_back(self_signed("one", "one.example"));
    material.keys.push_back(self_signed("two", "*.two.example"));
    const auto context = context_with({}, std::move(material));
    EXPECT_EQ(name_shown_for(*context, "one.example"), "CN=one");
    EXPECT_EQ(name_shown_for(*context, "a.two.example"), "CN=two");
    EXPECT_EQ(name_shown_for(*context, "three.example"), "CN=one");
    EXPECT_EQ(name_shown_for(*context, nullptr), "CN=one");
}

TEST(ServerContext, WhatCannotBeServedIsNamed) {
    EXPECT_THAT(error_with({}, KeyMaterial{}), HasSubstr("set ssl.keystore.location and ssl.keystore.password"));
    EXPECT_THAT(error_with({.protocols = {"TLSv1.4"}}), HasSubstr("ssl.enabled.protocols: unknown version TLSv1.4"));
    EXPECT_THAT(error_with({.protocols = {"TLSv1", "SSLv3"}}), HasSubstr("no version is served"));
    EXPECT_THAT(error_with({.cipher_suites = {"TLS_NO_SUCH"}}), HasSubstr("ssl.cipher.suites: unknown cipher suite TLS_NO_SUCH"));
    EXPECT_THAT(error_with({.protocols = {"TLSv1.2"}, .cipher_suites = {"TLS_AES_128_GCM_SHA256"}}),
                HasSubstr("no suite for the versions"));
    KeyMaterial many;
    for (std::size_t each = 0; each <= ServerContext::kKeysMax; ++each) {
        many.keys.emplace_back();
    }
    EXPECT_THAT(error_with({}, std::move(many)), HasSubstr("more than 100 keys"));
}

TEST(ServerContext, FirstBytesTellWhatElseSpeaks) {
    EXPECT_EQ(why_no_handshake(""), std::nullopt);
    EXPECT_EQ(why_no_handshake("\x16"), std::nullopt);
    EXPECT_EQ(why_no_handshake("\x16\x03\x01\x02"), std::nullopt);
    EXPECT_THAT(why_no_handshake(std::string_view("\0\0\0\x2a", 4)).value(), HasSubstr("its security.protocol is PLAINTEXT"));
    EXPECT_THAT(why_no_handshake("GET / HT").value(), HasSubstr("HTTP request"));
    EXPECT_THAT(why_no_handshake("SSH-2.0").value(), HasSubstr("the client sent no TLS handshake"));
    EXPECT_THAT(why_no_handshake("\x16\x02").value(), HasSubstr("the client sent no TLS handshake"));
}

}  // namespace
}  // namespace partita::tls
