#include "broker/tls/key_material.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/tls/stores.h"

namespace partita::tls {
namespace {

using test::configs_of;
using test::store_path;
using test::store_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Given = std::map<std::string, std::string, std::less<>>;

std::string subject_of(const Certificate& certificate) {
    std::array<char, 256> text{};
    X509_NAME_oneline(X509_get_subject_name(certificate.get()), text.data(), text.size());
    return text.data();
}

std::vector<std::string> subjects_of(const std::vector<Certificate>& certificates) {
    std::vector<std::string> subjects;
    for (const Certificate& each : certificates) {
        subjects.push_back(subject_of(each));
    }
    return subjects;
}

constexpr const char* kServer = "/O=Partita/CN=localhost";
constexpr const char* kAuthority = "/O=Partita/CN=Test CA";

Given key_store(std::string_view file, std::string_view type, std::optional<std::string> password = "store-secret") {
    Given given{{"ssl.keystore.location", store_path(file)}, {"ssl.keystore.type", std::string(type)}};
    if (password) {
        given["ssl.keystore.password"] = *password;
    }
    return given;
}

Given trust_store(std::string_view file, std::string_view type, std::optional<std::string> password = "store-secret") {
    Given given{{"ssl.truststore.location", store_path(file)}, {"ssl.truststore.type", std::string(type)}};
    if (password) {
        given["ssl.truststore.password"] = *password;
    }
    return given;
}

Given with(Given given, std::string_view key, std::string_view value) {
    given[std::string(key)] = value;
    return given;
}

std::string error_of(Given given) {
    const auto material = load_key_material(configs_of(std::move(given)));
    return material ? "none" : material.error();
}

void expect_server(Given given) {
    const auto material = load_key_material(configs_of(std::move(given)));
    ASSERT_TRUE(material) << material.error();
    ASSERT_EQ(material->keys.size(), 1u);
    EXPECT_THAT(subjects_of(material->keys[0].chain), ElementsAre(kServer, kAuthority));
    EXPECT_EQ(X509_check_private_key(material->keys[0].chain[0].get(), material->keys[0].key.get()), 1);
}

std::vector<std::string> trusted_by(Given given) {
    const auto material = load_key_material(configs_of(std::move(given)));
    if (!material) {
        return {material.error()};
    }
    return material->trusted ? subjects_of(*material->trusted) : std::vector<std::string>{"those of the machine"};
}

TEST(KeyMaterial, ServersKeyAndChainAreFoundInEachFormat) {
    expect_server(with(key_store("server.jks", "JKS"), "ssl.key.password", "key-secret"));
    expect_server(key_store("keytool.p12", "PKCS12"));
    expect_server(key_store("openssl.p12", "PKCS12"));
    // The format that keytool made before Java 16, with RC2 of 40 bits.
    expect_server(key_store("legacy.p12", "pkcs12"));
}

TEST(KeyMaterial, JksAndPkcs12AreToldApartByTheFileAsInJava) {
    expect_server(with(key_store("server.jks", "PKCS12"), "ssl.key.password", "key-secret"));
    expect_server(key_store("keytool.p12", "JKS"));
    Given without_type = key_store("keytool.p12", "");
    without_type.erase("ssl.keystore.type");
    expect_server(without_type);
}

TEST(KeyMaterial, PemOfOneFileHoldsKeyAndChain) {
    const std::string path = ::testing::TempDir() + "tls_key_material.pem";
    std::ofstream(path) << store_text("chain.pem") << store_text("encrypted.key");
    const Given given{{"ssl.keystore.location", path}, {"ssl.keystore.type", "PEM"}, {"ssl.key.password", "key-secret"}};
    expect_server(given);
    std::filesystem::remove(path);
}

TEST(KeyMaterial, InlinePemIsReadWithItsLinesAndInOne) {
    const Given given{{"ssl.keystore.type", "PEM"},
                      {"ssl.keystore.key", store_text("server.key")},
                      {"ssl.keystore.certificate.chain", store_text("chain.pem")}};
    expect_server(given);
    std::string one_line = store_text("chain.pem");
    std::ranges::replace(one_line, '\n', ' ');
    expect_server(with(given, "ssl.keystore.certificate.chain", one_line));
    // The key as in a properties file whose lines end with a backslash: one line without a space.
    std::string joined = store_text("server.key");
    std::erase(joined, '\n');
    expect_server(with(given, "ssl.keystore.key", joined));
}

TEST(KeyMaterial, KeysThatOpenSslWroteBeforePkcs8AreRead) {
    const Given given{{"ssl.keystore.type", "PEM"}, {"ssl.keystore.certificate.chain", store_text("chain.pem")}};
    expect_server(with(given, "ssl.keystore.key", store_text("traditional.key")));
    expect_server(
        with(with(given, "ssl.keystore.key", store_text("traditional-encrypted.key")), "ssl.key.password", "key-secret"));
}

TEST(KeyMaterial, TrustedCertificatesAreFoundInEachFormat) {
    EXPECT_THAT(trusted_by(trust_store("trust.jks", "JKS")), ::testing::UnorderedElementsAre(kServer, kAuthority));
    EXPECT_THAT(trusted_by(trust_store("trust.p12", "PKCS12")), ElementsAre(kAuthority));
    EXPECT_THAT(trusted_by(trust_store("openssl-ca.p12", "PKCS12")), ElementsAre(kAuthority));
    EXPECT_THAT(trusted_by(trust_store("ca.pem", "PEM", std::nullopt)), ElementsAre(kAuthority));
    EXPECT_THAT(trusted_by({{"ssl.truststore.type", "PEM"}, {"ssl.truststore.certificates", store_text("chain.pem")}}),
                ElementsAre(kServer, kAuthority));
}

TEST(KeyMaterial, OwnerOfAKeyIsTrustedAndItsIssuersAreNotAsInJava) {
    EXPECT_THAT(trusted_by(trust_store("server.jks", "JKS")), ElementsAre(kServer));
    EXPECT_THAT(trusted_by(trust_store("openssl.p12", "PKCS12")), ElementsAre(kServer));
}

TEST(KeyMaterial, TrustedCertificatesOfJksNeedNoPassword) {
    EXPECT_THAT(trusted_by(trust_store("trust.jks", "JKS", std::nullopt)), ::testing::SizeIs(2));
    EXPECT_THAT(error_of(trust_store("trust.p12", "PKCS12", std::nullopt)), HasSubstr("encrypted, but no password is given"));
}

TEST(KeyMaterial, PasswordsAreCharactersAndNotBytes) {
    EXPECT_THAT(trusted_by(trust_store("umlaut.jks", "JKS", "pässwörd-€-😀")), ElementsAre(kAuthority));
    EXPECT_THAT(error_of(trust_store("umlaut.jks", "JKS", "pässwörd-€")), HasSubstr("the password is wrong"));
}

TEST(KeyMaterial, NothingIsThereWithoutConfigs) {
    const auto material = load_key_material(configs_of({}));
    ASSERT_TRUE(material);
    EXPECT_TRUE(material->keys.empty());
    EXPECT_FALSE(material->trusted);
}

TEST(KeyMaterial, WrongPasswordsAreToldWithTheConfigAndTheFileAndNotShown) {
    for (const auto& [file, type] : {std::pair{"server.jks", "JKS"}, {"keytool.p12", "PKCS12"}, {"legacy.p12", "PKCS12"}}) {
        const std::string error = error_of(key_store(file, type, "Wrong-Password"));
        EXPECT_THAT(error, ::testing::StartsWith("listener.name.x.ssl.keystore.location=" + store_path(file) + ": "));
        EXPECT_THAT(error, HasSubstr("password is wrong"));
        EXPECT_THAT(error, Not(HasSubstr("Wrong-Password")));
    }
    EXPECT_THAT(error_of(key_store("server.jks", "JKS")), HasSubstr("key \"server\" cannot be decrypted: the password is wrong"));
    const Given pem{{"ssl.keystore.type", "PEM"},
                    {"ssl.keystore.key", store_text("encrypted.key")},
                    {"ssl.keystore.certificate.chain", store_text("chain.pem")}};
    EXPECT_EQ(error_of(pem),
              "listener.name.x.ssl.keystore.key: the private key is encrypted, but no password is given for it "
              "(listener.name.x.ssl.key.password)");
    EXPECT_THAT(error_of(with(pem, "ssl.key.password", "Wrong-Password")),
                ::testing::AllOf(HasSubstr("cannot be decrypted with its password"), Not(HasSubstr("Wrong-Password"))));
}

TEST(KeyMaterial, WhatDoesNotGoTogetherIsRefusedAsInKafka) {
    const std::string key = store_text("server.key");
    const std::string chain = store_text("chain.pem");
    const Given pem{{"ssl.keystore.type", "PEM"}, {"ssl.keystore.key", key}, {"ssl.keystore.certificate.chain", chain}};
    EXPECT_THAT(error_of(with(pem, "ssl.keystore.type", "JKS")), HasSubstr("ssl.keystore.type is not PEM"));
    EXPECT_THAT(error_of(with(pem, "ssl.keystore.location", "x")), HasSubstr("are both given"));
    EXPECT_THAT(error_of(with(pem, "ssl.keystore.password", "x")), HasSubstr("a PEM file has no password"));
    EXPECT_THAT(error_of({{"ssl.keystore.type", "PEM"}, {"ssl.keystore.key", key}}),
                HasSubstr("is given without listener.name.x.ssl.keystore.certificate.chain"));
    EXPECT_THAT(error_of({{"ssl.keystore.type", "PEM"}, {"ssl.keystore.certificate.chain", chain}}),
                HasSubstr("is given without listener.name.x.ssl.keystore.key"));
    EXPECT_THAT(error_of({{"ssl.keystore.location", "x"}}), HasSubstr("is given without listener.name.x.ssl.keystore.password"));
    EXPECT_THAT(error_of({{"ssl.keystore.password", "x"}}), HasSubstr("is given without listener.name.x.ssl.keystore.location"));
    EXPECT_THAT(error_of({{"ssl.truststore.password", "x"}}),
                HasSubstr("is given without listener.name.x.ssl.truststore.location"));
    EXPECT_THAT(error_of(with(trust_store("ca.pem", "PEM"), "ssl.truststore.password", "x")), HasSubstr("has no password"));
    EXPECT_THAT(error_of(key_store("server.jks", "BKS")), HasSubstr("ssl.keystore.type=BKS: use PEM, PKCS12 or JKS"));
}

TEST(KeyMaterial, WrongFilesAreToldForWhatTheyAre) {
    EXPECT_THAT(error_of(key_store("no-such.jks", "JKS")), HasSubstr("cannot be opened: No such file"));
    EXPECT_THAT(error_of(key_store("server.jceks", "JKS")), HasSubstr("it is a JCEKS store"));
    EXPECT_THAT(error_of(key_store("chain.pem", "JKS")), HasSubstr("it is PEM, but listener.name.x.ssl.keystore.type"));
    EXPECT_THAT(error_of(key_store("trust.jks", "JKS")), HasSubstr("it has no private key"));
    EXPECT_THAT(error_of(key_store("server.jks", "PEM", std::nullopt)), HasSubstr("it has no private key"));
    EXPECT_THAT(error_of(trust_store("server.key", "PEM", std::nullopt)), HasSubstr("it has no certificate"));
    const Given foreign{{"ssl.keystore.type", "PEM"},
                        {"ssl.keystore.key", store_text("ca.key")},
                        {"ssl.keystore.certificate.chain", store_text("chain.pem")}};
    EXPECT_THAT(error_of(foreign), HasSubstr("the first certificate belongs to another key"));
    const Given two{{"ssl.keystore.type", "PEM"},
                    {"ssl.keystore.key", store_text("ca.key") + store_text("server.key")},
                    {"ssl.keystore.certificate.chain", store_text("chain.pem")}};
    EXPECT_THAT(error_of(two), HasSubstr("it has more than one private key"));
}

TEST(KeyMaterial, WhatIsNoFileIsNotWaitedFor) {
    const std::string path = ::testing::TempDir() + "tls_pipe";
    std::filesystem::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    for (const std::string& none : {path, ::testing::TempDir(), std::string("/dev/zero")}) {
        const auto content = read_store_file(none);
        ASSERT_FALSE(content) << none;
        EXPECT_EQ(content.error(), "is not a regular file") << none;
    }
    std::filesystem::remove(path);
}

TEST(KeyMaterial, FilesBeyondTheLimitAreNotRead) {
    const std::string path = ::testing::TempDir() + "tls_large_store";
    std::ofstream(path) << std::string(kStoreBytesMax + 1, 'x');
    const auto content = read_store_file(path);
    ASSERT_FALSE(content);
    EXPECT_THAT(content.error(), HasSubstr("longer than 8388608 bytes"));
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace partita::tls
