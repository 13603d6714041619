// Tests TLS of our own client against a server in memory: which servers the client believes, and its errors when it does not.

#include "broker/client/tls.h"

#include <gmock/gmock.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "broker/client/cluster.h"
#include "broker/client/settings.h"
#include "broker/dev_security/certificates.h"

namespace partita::client {
namespace {

using dev_security::Authority;
using dev_security::Identity;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = TransportFailure::Kind;

constexpr std::int64_t kDayS = 24 * 60 * 60;
constexpr Instant kLater{1'000'000};

std::int64_t now_s() { return SystemClock().now().wall.value / 1000; }
dev_security::Validity valid() { return {.begin_s = now_s() - kDayS, .end_s = now_s() + kDayS}; }

struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(SSL* connection) const { SSL_free(connection); }
    void operator()(BIO* memory) const { BIO_free_all(memory); }
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
std::unique_ptr<BIO, Free> reader(const std::string& text) {
    return std::unique_ptr<BIO, Free>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// Properties of a server.
struct ServerWishes {
    Identity identity;
    /// Not empty: clients must show a certificate of this authority.
    std::string wants_clients_of = {};
    int last_version = TLS1_3_VERSION;
};

/// A server that gives back what it was sent. It moves when the client sends.
class EchoServer {
  public:
    explicit EchoServer(const ServerWishes& wishes) : context_(SSL_CTX_new(TLS_server_method())) {
        const std::unique_ptr<X509, Free> certificate(
            PEM_read_bio_X509(reader(wishes.identity.certificate).get(), nullptr, nullptr, nullptr));
        const std::unique_ptr<EVP_PKEY, Free> key(
            PEM_read_bio_PrivateKey(reader(wishes.identity.key).get(), nullptr, nullptr, nullptr));
        EXPECT_EQ(SSL_CTX_use_certificate(context_.get(), certificate.get()), 1);
        EXPECT_EQ(SSL_CTX_use_PrivateKey(context_.get(), key.get()), 1);
        SSL_CTX_set_max_proto_version(context_.get(), wishes.last_version);
        if (!wishes.wants_clients_of.empty()) {
            const std::unique_ptr<X509, Free> authority(
                PEM_read_bio_X509(reader(wishes.wants_clients_of).get(), nullptr, nullptr, nullptr));
            X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), authority.get());
            SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
        }
        connection_.reset(SSL_new(context_.get()));
        SSL_set_bio(connection_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
        SSL_set_accept_state(connection_.get());
    }

    void take(Bytes bytes) {
        BIO_write(SSL_get_rbio(connection_.get()), bytes.data(), static_cast<int>(bytes.size()));
        char piece[4096];
        for (int got = SSL_read(connection_.get(), piece, sizeof piece); got > 0;
             got = SSL_read(connection_.get(), piece, sizeof piece)) {
            SSL_write(connection_.get(), piece, got);
        }
    }
    /// 0 when there is nothing to send.
    std::size_t give(MutableBytes room) {
        const int got = BIO_read(SSL_get_wbio(connection_.get()), room.data(), static_cast<int>(room.size()));
        return got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    [[nodiscard]] std::string asked_name() const {
        const char* name = SSL_get_servername(connection_.get(), TLSEXT_NAMETYPE_host_name);
        return name == nullptr ? "" : name;
    }
    void end() { SSL_shutdown(connection_.get()); }

  private:
    std::unique_ptr<SSL_CTX, Free> context_;
    std::unique_ptr<SSL, Free> connection_;
};

/// The wire to the server. It ends when the server has nothing to send.
class Wire final : public Transport {
  public:
    /// `piece`: how many bytes come at once.
    explicit Wire(EchoServer& server, std::size_t piece = 1 << 20) : server_(server), piece_(piece) {}
    std::expected<void, TransportFailure> send(Bytes bytes, Instant) override {
        server_.take(bytes);
        return {};
    }
    std::expected<std::size_t, TransportFailure> receive(MutableBytes room, Instant) override {
        const std::size_t got = server_.give(room.first(std::min(room.size(), piece_)));
        if (got == 0) {
            return std::unexpected(TransportFailure{Kind::closed, "the other side closed the connection"});
        }
        return got;
    }

  private:
    EchoServer& server_;
    std::size_t piece_;
};

/// A peer that answers with the same bytes, whatever it receives.
class Stranger final : public Transport {
  public:
    explicit Stranger(std::string says) : says_(std::move(says)) {}
    std::expected<void, TransportFailure> send(Bytes, Instant) override { return {}; }
    std::expected<std::size_t, TransportFailure> receive(MutableBytes room, Instant) override {
        if (says_.empty()) {
            return std::unexpected(TransportFailure{Kind::closed, "the other side closed the connection"});
        }
        const std::size_t size = std::min(room.size(), says_.size());
        std::memcpy(room.data(), says_.data(), size);
        says_.erase(0, size);
        return size;
    }

  private:
    std::string says_;
};

class ClientTls : public ::testing::Test {
  protected:
    ClientTls() {
        std::string pattern = (std::filesystem::temp_directory_path() / "client-tls-XXXXXX").string();
        directory_ = ::mkdtemp(pattern.data());
    }
    ~ClientTls() override { std::filesystem::remove_all(directory_); }

    static Authority authority() { return Authority::make("an authority", valid()).value(); }
    std::string file(const std::string& name, const std::string& content) const {
        std::ofstream(directory_ + "/" + name) << content;
        return directory_ + "/" + name;
    }
    using Properties = std::map<std::string, std::string>;
    [[nodiscard]] Properties trusting(const Authority& trusted) const {
        return {{"ssl.truststore.type", "PEM"}, {"ssl.truststore.location", file("ca.pem", trusted.certificate())}};
    }
    static std::shared_ptr<const Tls> tls(const Properties& properties) {
        auto made = Tls::of(properties);
        EXPECT_TRUE(made.has_value()) << made.error().message;
        return made.value_or(nullptr);
    }
    /// Returns the error of a client that fails to connect to this server.
    static TransportFailure failure(const Properties& properties, const ServerWishes& wishes,
                                    const std::string& host = "localhost") {
        EchoServer server(wishes);
        auto secured = tls(properties)->secure(std::make_unique<Wire>(server), host, kLater);
        if (secured) {
            // In TLS 1.3 the server judges after the client has finished.
            if (auto sent = (*secured)->send(as_bytes("hello"), kLater); !sent) {
                return sent.error();
            }
            std::byte room[16];
            auto got = (*secured)->receive(room, kLater);
            EXPECT_FALSE(got.has_value());
            return got ? TransportFailure{} : got.error();
        }
        return secured.error();
    }
    /// Whether this server gives back what it was sent.
    static bool echoes(const Properties& properties, const ServerWishes& wishes, const std::string& host = "localhost") {
        EchoServer server(wishes);
        auto secured = tls(properties)->secure(std::make_unique<Wire>(server), host, kLater);
        if (!secured) {
            ADD_FAILURE() << secured.error().message;
            return false;
        }
        if (!(*secured)->send(as_bytes("hello"), kLater)) {
            return false;
        }
        std::byte room[16];
        const auto got = (*secured)->receive(room, kLater);
        return got && as_text(Bytes(room, *got)) == "hello";
    }

    std::string directory_;
};

TEST_F(ClientTls, MovesBytesBothWaysInRecordsOfAnySize) {
    const Authority trusted = authority();
    EchoServer server({.identity = trusted.issue_server({"localhost"}, valid()).value()});
    const auto secured = tls(trusting(trusted))->secure(std::make_unique<Wire>(server, 7), "localhost", kLater);
    ASSERT_TRUE(secured.has_value()) << secured.error().message;
    EXPECT_EQ(server.asked_name(), "localhost");
    std::string sent;
    for (int i = 0; i < 100'000; ++i) {
        sent += static_cast<char>(i * 31);
    }
    ASSERT_TRUE((*secured)->send(as_bytes(sent), kLater).has_value());
    std::string received;
    while (received.size() < sent.size()) {
        std::byte room[5000];
        const auto got = (*secured)->receive(room, kLater);
        ASSERT_TRUE(got.has_value()) << got.error().message;
        ASSERT_GT(*got, 0u);
        received.append(reinterpret_cast<const char*>(room), *got);
    }
    EXPECT_EQ(received, sent);
    server.end();
    std::byte room[16];
    const auto end = (*secured)->receive(room, kLater);
    ASSERT_FALSE(end.has_value());
    EXPECT_EQ(end.error().kind, Kind::closed);
}

TEST_F(ClientTls, BelievesTheAuthorityThatItIsGivenAndNoOther) {
    const Authority trusted = authority();
    const Authority other = authority();
    const Identity identity = trusted.issue_server({"localhost"}, valid()).value();
    EXPECT_TRUE(echoes(trusting(trusted), {.identity = identity}));
    EXPECT_TRUE(echoes(trusting(trusted), {.identity = identity, .last_version = TLS1_2_VERSION}));
    const TransportFailure stranger = failure(trusting(other), {.identity = identity});
    EXPECT_EQ(stranger.kind, Kind::untrusted);
    EXPECT_THAT(stranger.message, AllOf(HasSubstr("SSL handshake failed"), HasSubstr("ssl.truststore.location")));
    EXPECT_EQ(failure({}, {.identity = identity}).kind, Kind::untrusted) << "the machine knows no such authority";
}

TEST_F(ClientTls, ReadsTheNameThatLibrdkafkaHasForTheAuthorities) {
    const Authority trusted = authority();
    const Properties properties{{"ssl.ca.location", file("ca.pem", trusted.certificate())}};
    EXPECT_TRUE(echoes(properties, {.identity = trusted.issue_server({"localhost"}, valid()).value()}));
    const auto missing = Tls::of({{"ssl.ca.location", directory_ + "/nowhere.pem"}});
    ASSERT_FALSE(missing.has_value());
    EXPECT_THAT(missing.error().message, AllOf(HasSubstr("ssl.ca.location"), HasSubstr("nowhere.pem")));
}

TEST_F(ClientTls, ReadsCertificateAndKeyByLibrdkafkasNames) {
    const Authority trusted = authority();
    const ServerWishes server{.identity = trusted.issue_server({"localhost"}, valid()).value(),
                              .wants_clients_of = trusted.certificate()};
    const Identity mine = trusted.issue_client("app", valid()).value();
    Properties properties{{"ssl.ca.pem", trusted.certificate()},
                          {"ssl.certificate.location", file("app.pem", mine.certificate)},
                          {"ssl.key.location", file("app.key", mine.key)}};
    EXPECT_TRUE(echoes(properties, server));
    EXPECT_TRUE(echoes(
        {{"ssl.ca.pem", trusted.certificate()}, {"ssl.certificate.pem", mine.certificate}, {"ssl.key.pem", mine.key}}, server));
    properties.erase("ssl.key.location");
    const auto half = Tls::of(properties);
    ASSERT_FALSE(half.has_value());
    EXPECT_THAT(half.error().message, AllOf(HasSubstr("ssl.certificate.location="), HasSubstr("ssl.key.location")));
    properties["ssl.key.location"] = directory_ + "/nowhere.key";
    const auto missing = Tls::of(properties);
    ASSERT_FALSE(missing.has_value());
    EXPECT_THAT(missing.error().message, HasSubstr("ssl.key.location=" + directory_ + "/nowhere.key: "));
}

TEST_F(ClientTls, BelievesAnybodyWhereLibrdkafkasSettingSaysSo) {
    const Identity stranger = authority().issue_server({"elsewhere"}, valid()).value();
    EXPECT_TRUE(echoes({{"enable.ssl.certificate.verification", "false"}}, {.identity = stranger}));
    EXPECT_EQ(failure({{"enable.ssl.certificate.verification", "true"}}, {.identity = stranger}).kind, Kind::untrusted);
    EXPECT_FALSE(Tls::of({{"enable.ssl.certificate.verification", "maybe"}}).has_value());
}

TEST_F(ClientTls, ChecksTheNameUnlessItIsToldNotTo) {
    const Authority trusted = authority();
    const ServerWishes server{.identity = trusted.issue_server({"broker.example", "10.1.2.3"}, valid()).value()};
    Properties properties = trusting(trusted);
    EXPECT_TRUE(echoes(properties, server, "broker.example"));
    EXPECT_TRUE(echoes(properties, server, "10.1.2.3"));
    for (const char* host : {"localhost", "10.1.2.4", "::1"}) {
        const TransportFailure wrong = failure(properties, server, host);
        EXPECT_EQ(wrong.kind, Kind::untrusted) << host;
        EXPECT_THAT(wrong.message, AllOf(HasSubstr(std::string("not for ") + host), HasSubstr("endpoint.identification")));
    }
    properties["ssl.endpoint.identification.algorithm"] = "";
    EXPECT_TRUE(echoes(properties, server, "localhost"));
    EXPECT_TRUE(echoes(properties, server, "::1"));
    properties["ssl.endpoint.identification.algorithm"] = "HTTPS";
    EXPECT_EQ(failure(properties, server, "localhost").kind, Kind::untrusted);
    EXPECT_FALSE(Tls::of({{"ssl.endpoint.identification.algorithm", "LDAPS"}}).has_value());
}

TEST_F(ClientTls, DoesNotBelieveWhatHasExpiredOrIsForClients) {
    const Authority trusted = authority();
    const dev_security::Validity past{.begin_s = now_s() - 2 * kDayS, .end_s = now_s() - kDayS};
    const TransportFailure old = failure(trusting(trusted), {.identity = trusted.issue_server({"localhost"}, past).value()});
    EXPECT_EQ(old.kind, Kind::untrusted);
    EXPECT_THAT(old.message, HasSubstr("expired"));
    Properties any_name = trusting(trusted);
    any_name["ssl.endpoint.identification.algorithm"] = "";
    EXPECT_EQ(failure(any_name, {.identity = trusted.issue_client("localhost", valid()).value()}).kind, Kind::untrusted);
}

TEST_F(ClientTls, ShowsItsOwnCertificateToWhoeverWantsOne) {
    const Authority trusted = authority();
    const ServerWishes server{.identity = trusted.issue_server({"localhost"}, valid()).value(),
                              .wants_clients_of = trusted.certificate()};
    Properties properties = trusting(trusted);
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        ServerWishes strict = server;
        strict.last_version = version;
        const TransportFailure without = failure(properties, strict);
        EXPECT_EQ(without.kind, Kind::untrusted) << version;
        EXPECT_THAT(without.message, HasSubstr("ssl.keystore.location")) << version;
    }
    const Identity mine = trusted.issue_client("app", valid()).value();
    properties["ssl.keystore.type"] = "PEM";
    properties["ssl.keystore.location"] = file("app.pem", mine.key + mine.certificate);
    EXPECT_TRUE(echoes(properties, server));
}

TEST_F(ClientTls, SpeaksTheVersionsThatItIsTold) {
    const Authority trusted = authority();
    const Identity identity = trusted.issue_server({"localhost"}, valid()).value();
    Properties properties = trusting(trusted);
    properties["ssl.enabled.protocols"] = "TLSv1.3";
    EXPECT_TRUE(echoes(properties, {.identity = identity}));
    EXPECT_EQ(failure(properties, {.identity = identity, .last_version = TLS1_2_VERSION}).kind, Kind::untrusted);
    properties["ssl.enabled.protocols"] = "TLSv1.2, TLSv1.3";
    EXPECT_TRUE(echoes(properties, {.identity = identity, .last_version = TLS1_2_VERSION}));
    EXPECT_FALSE(Tls::of({{"ssl.enabled.protocols", "TLSv1.1"}}).has_value());
}

TEST_F(ClientTls, SaysThatNobodySpeaksTlsThere) {
    const Authority trusted = authority();
    const auto secured =
        tls(trusting(trusted))->secure(std::make_unique<Stranger>("HTTP/1.1 400 Bad Request\r\n"), "localhost", kLater);
    ASSERT_FALSE(secured.has_value());
    EXPECT_EQ(secured.error().kind, Kind::untrusted);
    EXPECT_THAT(secured.error().message, HasSubstr("does not speak TLS"));
    const auto silent = tls(trusting(trusted))->secure(std::make_unique<Stranger>(""), "localhost", kLater);
    ASSERT_FALSE(silent.has_value());
    EXPECT_EQ(silent.error().kind, Kind::closed);
    EXPECT_THAT(silent.error().message, HasSubstr("perhaps this port does not speak TLS"));
}

TEST_F(ClientTls, BelongsToTheProtocolsThatHaveIt) {
    const Authority trusted = authority();
    Properties properties = trusting(trusted);
    properties["bootstrap.servers"] = "localhost:9092";
    for (const auto& [protocol, has_tls] : std::map<std::string, bool>{{"PLAINTEXT", false}, {"SSL", true}, {"ssl", true}}) {
        properties["security.protocol"] = protocol;
        const auto settings = settings_of(properties);
        ASSERT_TRUE(settings.has_value()) << settings.error().message;
        EXPECT_EQ(settings->tls != nullptr, has_tls) << protocol;
        EXPECT_FALSE(settings->login.has_value());
    }
    properties["security.protocol"] = "SASL_SSL";
    EXPECT_FALSE(settings_of(properties).has_value()) << "somebody has to log in";
    properties["sasl.mechanism"] = "PLAIN";
    properties["sasl.jaas.config"] =
        "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"a\" password=\"b\";";
    const auto both = settings_of(properties);
    ASSERT_TRUE(both.has_value()) << both.error().message;
    EXPECT_TRUE(both->tls && both->login);
}

/// A network in which a stranger answers each connection.
class StrangerNetwork final : public Network {
  public:
    explicit StrangerNetwork(std::string says) : says_(std::move(says)) {}
    std::expected<std::unique_ptr<Transport>, TransportFailure> connect(const Endpoint&, Instant) override {
        ++connections;
        return std::make_unique<Stranger>(says_);
    }
    Clock& clock() override { return clock_; }
    void pause(std::int64_t) override { ADD_FAILURE() << "another attempt would do no better"; }

    int connections = 0;

  private:
    std::string says_;
    SystemClock clock_;
};

TEST_F(ClientTls, ACallThatMeetsDistrustEndsAtOnce) {
    const Authority trusted = authority();
    StrangerNetwork network("HTTP/1.1 400 Bad Request\r\n");
    Properties properties = trusting(trusted);
    properties["bootstrap.servers"] = "one:1,two:2";
    properties["security.protocol"] = "SSL";
    Cluster cluster(network, settings_of(properties).value());
    const auto membership = cluster.membership("listNodes");
    ASSERT_FALSE(membership.has_value());
    EXPECT_EQ(membership.error().kind, Failure::Kind::untrusted);
    EXPECT_EQ(exception_name(membership.error()), "SslAuthenticationException");
    EXPECT_THAT(membership.error().message, AllOf(HasSubstr("one:1: SSL handshake failed"), HasSubstr("does not speak TLS")));
    EXPECT_EQ(network.connections, 1);
}

TEST_F(ClientTls, WhoSpeaksNoTlsToWhoeverWantsItIsToldSo) {
    StrangerNetwork network(std::string("\x15\x03\x03\x00\x02\x02\x46", 7));
    Cluster cluster(network, settings_of({{"bootstrap.servers", "one:1"}}).value());
    const auto membership = cluster.membership("listNodes");
    ASSERT_FALSE(membership.has_value());
    EXPECT_THAT(membership.error().message, AllOf(HasSubstr("it speaks TLS"), HasSubstr("security.protocol=SSL")));
}

}  // namespace
}  // namespace partita::client
