// Tests the directory that `partita dev-security` makes: which certificates trust which, who can read the files, and what is
// refused.

#include "broker/dev_security/dev_security.h"

#include <gmock/gmock.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

namespace partita::dev_security {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::int64_t kNowS = 1'800'000'000;

std::string content(const std::vector<MadeFile>& files, std::string_view name) {
    const auto found = std::ranges::find(files, name, &MadeFile::name);
    EXPECT_NE(found, files.end()) << name;
    return found == files.end() ? std::string() : found->content;
}

std::vector<MadeFile> made(const Wishes& wishes) {
    auto files = make_files(wishes, kNowS);
    EXPECT_TRUE(files.has_value()) << files.error();
    return files.value_or(std::vector<MadeFile>());
}

struct Free {
    void operator()(BIO* memory) const { BIO_free_all(memory); }
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509_STORE* store) const { X509_STORE_free(store); }
    void operator()(X509_STORE_CTX* context) const { X509_STORE_CTX_free(context); }
};
using Certificate = std::unique_ptr<X509, Free>;
using Key = std::unique_ptr<EVP_PKEY, Free>;

Certificate certificate_in(const std::string& pem) {
    const std::unique_ptr<BIO, Free> memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    return Certificate(PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr));
}
Key key_in(const std::string& pem) {
    const std::unique_ptr<BIO, Free> memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    return Key(PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, nullptr));
}

/// OpenSSL's verdict on a certificate that is shown for `purpose` (X509_PURPOSE_...), at a time.
int verdict(X509& certificate, X509& authority, int purpose, std::int64_t at_s) {
    const std::unique_ptr<X509_STORE, Free> store(X509_STORE_new());
    X509_STORE_add_cert(store.get(), &authority);
    const std::unique_ptr<X509_STORE_CTX, Free> context(X509_STORE_CTX_new());
    X509_STORE_CTX_init(context.get(), store.get(), &certificate, nullptr);
    X509_STORE_CTX_set_purpose(context.get(), purpose);
    X509_STORE_CTX_set_time(context.get(), 0, at_s);
    X509_STORE_CTX_set_flags(context.get(), X509_V_FLAG_X509_STRICT);
    X509_verify_cert(context.get());
    return X509_STORE_CTX_get_error(context.get());
}

TEST(DevSecurity, TheServersCertificateIsTrustedForItsHostsAndNoOthers) {
    const auto files = made({.directory = "/etc/kafka", .hosts = {"kafka", "broker.example", "10.1.2.3"}});
    const Certificate authority = certificate_in(content(files, "ca.pem"));
    const Certificate server = certificate_in(content(files, "server.pem"));
    ASSERT_TRUE(authority && server);
    EXPECT_EQ(verdict(*server, *authority, X509_PURPOSE_SSL_SERVER, kNowS), X509_V_OK);
    EXPECT_NE(verdict(*server, *authority, X509_PURPOSE_SSL_CLIENT, kNowS), X509_V_OK);
    for (const char* host : {"localhost", "kafka", "broker.example"}) {
        EXPECT_EQ(X509_check_host(server.get(), host, 0, 0, nullptr), 1) << host;
    }
    for (const char* address : {"127.0.0.1", "::1", "10.1.2.3"}) {
        EXPECT_EQ(X509_check_ip_asc(server.get(), address, 0), 1) << address;
    }
    EXPECT_EQ(X509_check_host(server.get(), "elsewhere.example", 0, 0, nullptr), 0);
    EXPECT_EQ(X509_check_ip_asc(server.get(), "10.1.2.4", 0), 0);
}

TEST(DevSecurity, KeysAreOfTheCurveP256AndBelongToTheirCertificates) {
    const auto files = made({.directory = "/d"});
    for (const char* name : {"server.pem", "admin.pem", "app.pem"}) {
        const std::string pem = content(files, name);
        EXPECT_THAT(pem, StartsWith("-----BEGIN PRIVATE KEY-----")) << "Java reads no other form";
        const Key key = key_in(pem);
        const Certificate certificate = certificate_in(pem);
        ASSERT_TRUE(key && certificate) << name;
        EXPECT_EQ(X509_check_private_key(certificate.get(), key.get()), 1) << name;
        EXPECT_EQ(EVP_PKEY_get_bits(key.get()), 256) << name;
        char group[32] = {};
        EXPECT_EQ(EVP_PKEY_get_group_name(key.get(), group, sizeof group, nullptr), 1);
        EXPECT_STREQ(group, "prime256v1") << name;
    }
}

TEST(DevSecurity, TheAuthoritysKeyIsNowhere) {
    const auto files = made({.directory = "/d"});
    const Certificate authority = certificate_in(content(files, "ca.pem"));
    for (const MadeFile& file : files) {
        const Key key = key_in(file.content);
        EXPECT_TRUE(!key || X509_check_private_key(authority.get(), key.get()) == 0) << file.name;
    }
}

TEST(DevSecurity, CertificatesOfUsersNameThemAndAreForClients) {
    const auto files = made({.directory = "/d", .users = {"billing"}});
    const Certificate authority = certificate_in(content(files, "ca.pem"));
    const Certificate user = certificate_in(content(files, "billing.pem"));
    ASSERT_TRUE(authority && user);
    char name[64] = {};
    X509_NAME_get_text_by_NID(X509_get_subject_name(user.get()), NID_commonName, name, sizeof name);
    EXPECT_STREQ(name, "billing");
    EXPECT_EQ(verdict(*user, *authority, X509_PURPOSE_SSL_CLIENT, kNowS), X509_V_OK);
    EXPECT_NE(verdict(*user, *authority, X509_PURPOSE_SSL_SERVER, kNowS), X509_V_OK);
    const Certificate other = certificate_in(content(made({.directory = "/d"}), "ca.pem"));
    EXPECT_NE(verdict(*user, *other, X509_PURPOSE_SSL_CLIENT, kNowS), X509_V_OK) << "another directory's authority";
}

TEST(DevSecurity, CertificatesHoldFromAnHourAgoForEightHundredDays) {
    const auto files = made({.directory = "/d"});
    const Certificate authority = certificate_in(content(files, "ca.pem"));
    const Certificate server = certificate_in(content(files, "server.pem"));
    constexpr std::int64_t kDayS = 24 * 60 * 60;
    EXPECT_EQ(verdict(*server, *authority, X509_PURPOSE_SSL_SERVER, kNowS - 3000), X509_V_OK);
    EXPECT_EQ(verdict(*server, *authority, X509_PURPOSE_SSL_SERVER, kNowS + 800 * kDayS), X509_V_OK);
    EXPECT_EQ(verdict(*server, *authority, X509_PURPOSE_SSL_SERVER, kNowS + 826 * kDayS), X509_V_ERR_CERT_HAS_EXPIRED);
    EXPECT_EQ(verdict(*authority, *authority, X509_PURPOSE_ANY, kNowS + 3000 * kDayS), X509_V_OK);
}

TEST(DevSecurity, PasswordsAreLongAndNeverTheSame) {
    const auto password_of = [](const std::vector<MadeFile>& files, std::string_view user) {
        const std::string text = content(files, std::string(user) + ".librdkafka.conf");
        const std::size_t begin = text.find("sasl.password=") + 14;
        return text.substr(begin, text.find('\n', begin) - begin);
    };
    const auto one = made({.directory = "/d"});
    const auto other = made({.directory = "/d"});
    EXPECT_EQ(password_of(one, "app").size(), 26u);
    EXPECT_NE(password_of(one, "app"), password_of(one, "admin"));
    EXPECT_NE(password_of(one, "app"), password_of(other, "app"));
    EXPECT_THAT(content(one, "app.properties"), HasSubstr("username=\"app\" password=\"" + password_of(one, "app") + "\";"));
    EXPECT_THAT(content(one, "scram-users"), HasSubstr("SCRAM-SHA-512=[name=app,password=" + password_of(one, "app") + "]"));
    EXPECT_THAT(content(one, "broker.properties"), HasSubstr("user_app=\"" + password_of(one, "app") + "\""));
}

TEST(DevSecurity, TheTokenOfTheHttpSideIsTheAdministrators) {
    const auto files = made({.directory = "/d"});
    EXPECT_EQ(content(files, "http-token").size(), 27u) << "a password and the end of its line";
    EXPECT_NE(content(files, "http-token"), content(made({.directory = "/d"}), "http-token"));
    EXPECT_THAT(content(files, "broker.properties"), HasSubstr("partita.http.token.file=/d/http-token\n"));
    EXPECT_THAT(content(files, "broker.properties"), HasSubstr("partita.http.principal=User:admin\n"));
}

TEST(DevSecurity, ASecondListenerIsForCertificatesWhenItIsAskedFor) {
    const auto plain = made({.directory = "/d", .port = 7000});
    EXPECT_THAT(content(plain, "broker.properties"), HasSubstr("listeners=SASL_SSL://localhost:7000\n"));
    EXPECT_THAT(content(plain, "broker.properties"), Not(HasSubstr("client.auth")));
    const auto mutual = made({.directory = "/d", .port = 7000, .has_mutual_tls = true});
    EXPECT_THAT(content(mutual, "broker.properties"), HasSubstr("listeners=SASL_SSL://localhost:7000,SSL://localhost:7001\n"));
    EXPECT_THAT(content(mutual, "broker.properties"), HasSubstr("listener.name.ssl.ssl.client.auth=required\n"));
    EXPECT_THAT(content(mutual, "app.mtls.properties"), HasSubstr("bootstrap.servers=localhost:7001\nsecurity.protocol=SSL\n"));
    EXPECT_THAT(content(mutual, "app.mtls.librdkafka.conf"), HasSubstr("ssl.key.location=/d/app.pem\n"));
    EXPECT_FALSE(make_files({.directory = "/d", .port = 65535, .has_mutual_tls = true}, kNowS).has_value());
}

TEST(DevSecurity, WhatMakesNoUserOrHostIsRefused) {
    for (const char* user : {"", "ca", "server", "broker", "-x", ".hidden", "a/b", "a b", "a\"b", "a,b", "\xc3\xa9"}) {
        const auto files = make_files({.directory = "/d", .users = {user}}, kNowS);
        ASSERT_FALSE(files.has_value()) << user;
        EXPECT_THAT(files.error(), HasSubstr("invalid user \"" + std::string(user) + "\": ")) << user;
    }
    EXPECT_FALSE(make_files({.directory = "/d", .users = {std::string(kUserNameBytesMax + 1, 'a')}}, kNowS).has_value());
    for (const char* host : {"", "a,IP:1.2.3.4", "a b", "a/b", "a\nb"}) {
        EXPECT_FALSE(make_files({.directory = "/d", .hosts = {host}}, kNowS).has_value()) << host;
    }
    EXPECT_FALSE(make_files({.directory = "/d\nx"}, kNowS).has_value());
    std::vector<std::string> many;
    for (std::size_t name = 0; name < kUsersMax; ++name) {
        many.push_back("u" + std::to_string(name));
    }
    EXPECT_FALSE(make_files({.directory = "/d", .users = many}, kNowS).has_value());
    EXPECT_FALSE(make_files({.directory = "/d", .hosts = many}, kNowS).has_value());
}

TEST(DevSecurity, TheAdministratorIsMadeOnce) {
    const auto files = made({.directory = "/d", .users = {"admin", "app", "app"}});
    EXPECT_EQ(std::ranges::count(files, "admin.pem", &MadeFile::name), 1);
    EXPECT_EQ(std::ranges::count(files, "app.pem", &MadeFile::name), 1);
}

class Directory : public ::testing::Test {
  protected:
    Directory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "dev-security-XXXXXX").string();
        root_ = ::mkdtemp(pattern.data());
    }
    ~Directory() override { std::filesystem::remove_all(root_); }
    [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }
    [[nodiscard]] std::string text(const std::string& name) const {
        std::ifstream file(path(name));
        std::stringstream content;
        content << file.rdbuf();
        return content.str();
    }
    [[nodiscard]] unsigned mode(const std::string& name) const {
        struct stat found{};
        EXPECT_EQ(::lstat(path(name).c_str(), &found), 0) << name;
        return found.st_mode & 07777;
    }

    std::string root_;
};

TEST_F(Directory, IsForItsOwnerAlone) {
    const mode_t before = ::umask(0);
    const auto written = write_files(path("a/b"), {{"one", "1\n"}}, false);
    ::umask(before);
    ASSERT_TRUE(written.has_value()) << written.error();
    EXPECT_EQ(mode("a/b"), 0700u);
    EXPECT_EQ(mode("a/b/one"), 0600u);
    EXPECT_EQ(text("a/b/one"), "1\n");
}

TEST_F(Directory, ThatOthersMayLookIntoIsRefused) {
    ASSERT_EQ(::mkdir(path("open").c_str(), 0755), 0);
    const auto written = write_files(path("open"), {{"one", "1\n"}}, true);
    ASSERT_FALSE(written.has_value());
    EXPECT_THAT(written.error(), HasSubstr("chmod 700"));
    EXPECT_FALSE(std::filesystem::exists(path("open/one")));
}

TEST_F(Directory, OfAnotherUserIsRefused) {
    ASSERT_EQ(::mkdir(path("theirs").c_str(), 0700), 0);
    constexpr uid_t kNobody = 65534;
    if (::chown(path("theirs").c_str(), kNobody, static_cast<gid_t>(-1)) != 0) {
        GTEST_SKIP() << "only root gives directories away";
    }
    const auto written = write_files(path("theirs"), {{"one", "1\n"}}, true);
    ASSERT_FALSE(written.has_value());
    EXPECT_THAT(written.error(), HasSubstr("belongs to another user"));
    EXPECT_FALSE(std::filesystem::exists(path("theirs/one")));
}

TEST_F(Directory, ThatHasSuchFilesIsLeftAloneUnlessTold) {
    ASSERT_TRUE(write_files(path("d"), {{"one", "1\n"}}, false).has_value());
    const auto refused = write_files(path("d"), {{"other", "2\n"}, {"one", "2\n"}}, false);
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error(), HasSubstr("--overwrite"));
    EXPECT_EQ(text("d/one"), "1\n");
    EXPECT_FALSE(std::filesystem::exists(path("d/other"))) << "nothing is written before all is looked at";
    ASSERT_TRUE(write_files(path("d"), {{"one", "2\n"}}, true).has_value());
    EXPECT_EQ(text("d/one"), "2\n");
}

TEST_F(Directory, ALinkInItIsNotFollowed) {
    ASSERT_TRUE(write_files(path("d"), {}, false).has_value());
    std::ofstream(path("victim")) << "kept";
    ASSERT_EQ(::symlink(path("victim").c_str(), path("d/one").c_str()), 0);
    ASSERT_EQ(::symlink(path("victim").c_str(), path("d/two.tmp").c_str()), 0);
    EXPECT_FALSE(write_files(path("d"), {{"one", "stolen"}}, true).has_value());
    EXPECT_TRUE(write_files(path("d"), {{"two", "2\n"}}, true).has_value());
    EXPECT_EQ(text("victim"), "kept");
    EXPECT_EQ(text("d/two"), "2\n");
}

TEST_F(Directory, WhatCannotBeMadeIsSaid) {
    std::ofstream(path("file")) << "x";
    const auto written = write_files(path("file"), {{"one", "1\n"}}, false);
    ASSERT_FALSE(written.has_value());
    EXPECT_THAT(written.error(), HasSubstr("is not a directory"));
    EXPECT_FALSE(write_files(path("file/below"), {{"one", "1\n"}}, false).has_value());
}

TEST(BrokerSettings, NameTheFilesWhereTheDirectoryIsNow) {
    const Settings settings{{"listeners", "SASL_SSL://localhost:9092,SSL://localhost:9093"},
                            {"ssl.keystore.location", "/old/place/server.pem"},
                            {"partita.scram.users.file", "/old/place/scram-users"},
                            {"partita.http.token.file", "/old/place/http-token"},
                            {"super.users", "User:admin"}};
    const auto moved = broker_settings("/new", settings, "");
    ASSERT_TRUE(moved.has_value()) << moved.error();
    EXPECT_EQ(moved->at("ssl.keystore.location"), "/new/server.pem");
    EXPECT_EQ(moved->at("partita.scram.users.file"), "/new/scram-users");
    EXPECT_EQ(moved->at("partita.http.token.file"), "/new/http-token");
    EXPECT_EQ(moved->at("super.users"), "User:admin");
    EXPECT_EQ(moved->at("listeners"), settings.at("listeners"));
    EXPECT_EQ(broker_settings("/new", settings, "7000")->at("listeners"), "SASL_SSL://localhost:7000,SSL://localhost:7001");
    EXPECT_EQ(broker_settings("/new", settings, "0")->at("listeners"), "SASL_SSL://localhost:0,SSL://localhost:0");
    EXPECT_FALSE(broker_settings("/new", settings, "65535").has_value());
}

TEST(BrokerSettings, OfAnotherFileAreRefused) {
    EXPECT_FALSE(broker_settings("/new", {{"listeners", "PLAINTEXT://:9092"}}, "").has_value());
    EXPECT_FALSE(broker_settings("/new", {{"ssl.keystore.location", "x"}}, "").has_value());
    EXPECT_FALSE(broker_settings("/new", {{"listeners", "x"}, {"ssl.keystore.location", "x"}}, "1").has_value());
}

TEST(Told, NamesEveryUserAndNoPassword) {
    const std::string text = told({.directory = "/d", .users = {"billing", "web"}, .port = 7000});
    EXPECT_THAT(text, HasSubstr("partita --security /d\n"));
    EXPECT_THAT(text, HasSubstr("--bootstrap-server localhost:7000 --command-config /d/admin.properties"));
    EXPECT_THAT(text, HasSubstr("; billing, web may do nothing until an ACL allows it.\n"));
    EXPECT_THAT(text, HasSubstr("User:billing"));
}

}  // namespace
}  // namespace partita::dev_security
