// Gives a broker every kind of secret, and asks it for everything: no answer contains any of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "broker/authentication/crypto.h"
#include "protocol/messages/32_describe_configs.h"
#include "protocol/messages/38_create_delegation_token.h"
#include "protocol/messages/44_incremental_alter_configs.h"
#include "protocol/messages/50_describe_user_scram_credentials.h"
#include "protocol/messages/51_alter_user_scram_credentials.h"
#include "tests/support/broker_process.h"
#include "tests/support/sasl_client.h"
#include "tests/support/tests_directory.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using namespace std::chrono_literals;
using authentication::Hash;
using ::testing::HasSubstr;
using ::testing::Not;

/// Each secret contains it, and nothing else does.
constexpr std::string_view kMarker = "-secret";
constexpr std::string_view kLateLine =
    "org.apache.kafka.common.security.plain.PlainLoginModule required user_late=\"late-secret\";";

/// Drops the line that documents a config by an example.
std::string said(const HttpAnswer& answer) {
    constexpr std::string_view kExample = "password=alice-secret]";
    std::string text = answer.headers + answer.body;
    for (std::size_t at = text.find(kExample); at != text.npos; at = text.find(kExample)) {
        text.erase(at, kExample.size());
    }
    return text;
}

class Secrets : public ::testing::Test {
  protected:
    void SetUp() override {
        const std::string users = files_ / "users";
        std::ofstream(users) << "SCRAM-SHA-512=[name=carol,password=carol-secret]\n";
        const std::string stores = tests_directory().string() + "/unit/tls/stores/";
        const std::string tls = "listener.name.ssl.ssl.";
        broker_ = start_with_logins({
            "listeners=SASL_PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0",
            tls + "keystore.location=" + stores + "server.jks",
            tls + "keystore.password=store-secret",
            tls + "key.password=key-secret",
            tls + "truststore.location=" + stores + "trust.jks",
            tls + "truststore.password=store-secret",
            "partita.http.token=http-token-0123456789-secret",
            "partita.scram.users.file=" + users,
            "delegation.token.secret.key=master-secret",
            "sasl.jaas.config=some.LoginModule required password=\"line-secret\";",
            "sasl.oauthbearer.client.credentials.client.secret=client-secret",
            "sasl.oauthbearer.assertion.private.key.passphrase=phrase-secret",
            "listener.name.ssl.some.plugin.password=plugin-secret",
            "a.name.that.nobody.knows=unknown-secret",
        });
        ASSERT_NE(broker_, nullptr);
        admin_ = std::make_unique<WireClient>(broker_->port());
        ASSERT_EQ(plain_login(*admin_, "admin", "admin-secret")->error_code, ErrorCode::none);
    }

    /// Sends a request of the administrator and returns the answer.
    template <class Response, class Request>
    const Response* ask(std::int16_t version, const Request& request) {
        const std::int32_t id = admin_->send_request(version, request);
        const auto* const response = admin_->read_reply<Response, Request>(version, id);
        EXPECT_NE(response, nullptr) << admin_->failure();
        return response;
    }

    ErrorCode alter(std::string_view name, std::string_view value, std::string& message) {
        IncrementalAlterConfigsRequest::AlterableConfig change{.name = name, .config_operation = 0, .value = value};
        IncrementalAlterConfigsRequest::AlterConfigsResource resource{.resource_type = 4, .resource_name = "1"};
        resource.configs = {&change, 1};
        IncrementalAlterConfigsRequest request;
        request.resources = {&resource, 1};
        const auto* const reply = ask<IncrementalAlterConfigsResponse>(1, request);
        if (reply == nullptr || reply->responses.size != 1) {
            return ErrorCode::network_exception;
        }
        message = reply->responses[0].error_message.value_or("");
        return reply->responses[0].error_code;
    }

    TemporaryDirectory files_;
    std::unique_ptr<BrokerProcess> broker_;
    std::unique_ptr<WireClient> admin_;
};

TEST_F(Secrets, AreInNoAnswerNoLogAndNoFile) {
    // One login with a wrong password and one with the right one.
    {
        WireClient wrong(broker_->port());
        const auto* const refused = plain_login(wrong, "alice", "wrong-secret");
        ASSERT_NE(refused, nullptr);
        EXPECT_THAT(std::string(refused->error_message.value_or("")), Not(HasSubstr(std::string(kMarker))));
        WireClient carol(broker_->port());
        EXPECT_EQ(scram_login(carol, Hash::sha_512, "carol", "carol-secret").said, "served");
        WireClient other(broker_->port());
        EXPECT_THAT(scram_login(other, Hash::sha_512, "carol", "other-secret").said, Not(HasSubstr(std::string(kMarker))));
        WireClient malformed(broker_->port());
        ASSERT_NE(shake_hands(malformed, "PLAIN"), nullptr);
        (void)say(malformed, "no-nul-secret");
    }
    // Users and tokens.
    const std::string salted = authentication::salted_password(Hash::sha_256, "bob-secret", "salt", 4096);
    std::array upsertions{AlterUserScramCredentialsRequest::ScramCredentialUpsertion{
        .name = "bob", .mechanism = 1, .iterations = 4096, .salt = as_bytes("salt"), .salted_password = as_bytes(salted)}};
    ASSERT_NE((ask<AlterUserScramCredentialsResponse>(0, AlterUserScramCredentialsRequest{.upsertions = upsertions})), nullptr);
    ASSERT_NE((ask<DescribeUserScramCredentialsResponse>(0, DescribeUserScramCredentialsRequest{})), nullptr);
    const auto* const token = ask<CreateDelegationTokenResponse>(3, CreateDelegationTokenRequest{.max_lifetime_ms = -1});
    ASSERT_NE(token, nullptr);
    ASSERT_EQ(token->error_code, ErrorCode::none);
    const std::string hmac = authentication::to_base64(as_text(token->hmac));
    // One setting is refused; one is taken, and is in no file of the start.
    std::string message;
    EXPECT_EQ(alter("listener.name.ssl.ssl.keystore.password", "no-such-secret", message), ErrorCode::invalid_request);
    EXPECT_THAT(message, Not(HasSubstr(std::string(kMarker))));
    EXPECT_EQ(alter("listener.name.sasl_plaintext.plain.sasl.jaas.config", kLateLine, message), ErrorCode::none) << message;
    EXPECT_THAT(message, Not(HasSubstr(std::string(kMarker))));
    DescribeConfigsRequest::DescribeConfigsResource broker{.resource_type = 4, .resource_name = "1"};
    DescribeConfigsRequest describe{.include_synonyms = true, .include_documentation = true};
    describe.resources = {&broker, 1};
    const auto* const described = ask<DescribeConfigsResponse>(4, describe);
    ASSERT_NE(described, nullptr);
    ASSERT_EQ(described->results.size, 1u);
    std::vector<std::string> sensitive;
    for (const auto& config : described->results[0].configs) {
        EXPECT_THAT(std::string(config.value.value_or("")), Not(HasSubstr(std::string(kMarker)))) << config.name;
        if (config.is_sensitive) {
            sensitive.emplace_back(config.name);
        }
        for (const auto& synonym : config.synonyms) {
            EXPECT_THAT(std::string(synonym.value.value_or("")), Not(HasSubstr(std::string(kMarker)))) << synonym.name;
        }
    }
    for (const std::string name : {"delegation.token.secret.key", "partita.http.token", "listener.name.ssl.ssl.key.password",
                                   "listener.name.sasl_plaintext.plain.sasl.jaas.config", "a.name.that.nobody.knows"}) {
        EXPECT_THAT(sensitive, ::testing::Contains(name));
    }
    // Asks for every resource over HTTP that needs no name: with the token, without one, and with another one.
    for (const std::string path :
         {"/", "/health/live", "/health/ready", "/metrics", "/v1/broker", "/v1/broker/configs", "/v1/connections", "/v1/requests",
          "/v1/errors", "/v1/quotas", "/v1/findings", "/v1/topics", "/v1/groups", "/v1/topics/__partita_catalog", "/nowhere"}) {
        for (const std::string_view header : {"Authorization: Bearer http-token-0123456789-secret\r\n", "",
                                              "Authorization: Bearer other-token-0123456789-secret\r\n"}) {
            const auto answer = broker_->http_get(path, std::string(header));
            ASSERT_TRUE(answer) << path;
            EXPECT_THAT(said(*answer), Not(HasSubstr(std::string(kMarker)))) << path;
            EXPECT_THAT(said(*answer), Not(HasSubstr(hmac))) << path;
        }
    }
    EXPECT_EQ(broker_->http_get("/v1/broker/configs", "Authorization: Bearer http-token-0123456789-secret\r\n")->status, 200);
    EXPECT_EQ(broker_->http_get("/v1/broker/configs", "Authorization: Bearer other-token-0123456789-secret\r\n")->status, 401);

    admin_.reset();
    const Finished finished = broker_->stop();
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_THAT(finished.output, HasSubstr("failed authentication"));
    EXPECT_THAT(finished.output, Not(HasSubstr(std::string(kMarker))));
    EXPECT_THAT(finished.output, Not(HasSubstr(hmac)));
    EXPECT_THAT(finished.output, Not(HasSubstr(salted)));
    // On disk only the catalog holds the secret that kafka-configs was told, as Kafka's metadata log does; no other file holds
    // any.
    for (const auto& entry : std::filesystem::recursive_directory_iterator(broker_->data_directory())) {
        if (!entry.is_regular_file()) {
            continue;
        }
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        for (std::size_t at = content.find(kMarker); at != content.npos; at = content.find(kMarker, at + 1)) {
            EXPECT_EQ(content.substr(at - 4, 4 + kMarker.size()), "late-secret") << entry.path();
        }
        EXPECT_EQ(content.find(hmac), content.npos) << entry.path();
        EXPECT_EQ(content.find(salted), content.npos) << entry.path();
    }
}

TEST(RefusedStart, ItsLineHasNoSecret) {
    const auto refused = [](std::vector<std::string> overrides) {
        BrokerProcess::Options options{.choose_port = false};
        options.overrides = std::move(overrides);
        const Finished finished = BrokerProcess::run(options);
        EXPECT_NE(finished.exit_code, 0);
        return finished.output;
    };
    const std::string jaas = "listener.name.sasl_plaintext.plain.sasl.jaas.config=";
    const std::vector<std::string> listener{"listeners=SASL_PLAINTEXT://127.0.0.1:0", "inter.broker.listener.name=SASL_PLAINTEXT",
                                            "sasl.enabled.mechanisms=PLAIN", "sasl.mechanism.inter.broker.protocol=PLAIN"};
    for (const std::string line : {"x", "a-secret", "a.Module required b=\"a-secret\"", "a.Module perhaps b=\"a-secret\";",
                                   "a.Module required \"a-secret\" b;", "a.Module required b=\"a-secret;"}) {
        std::vector<std::string> overrides = listener;
        overrides.push_back(jaas + line);
        EXPECT_THAT(refused(overrides), Not(HasSubstr("a-secret"))) << line;
    }
    const std::string stores = tests_directory().string() + "/unit/tls/stores/";
    for (const std::string store : {"server.jks", "keytool.p12", "encrypted.key", "nowhere.jks"}) {
        EXPECT_THAT(
            refused({"listeners=SSL://127.0.0.1:0", "inter.broker.listener.name=SSL", "ssl.keystore.location=" + stores + store,
                     "ssl.keystore.password=wrong-secret", "ssl.key.password=other-secret"}),
            Not(HasSubstr(std::string(kMarker))))
            << store;
    }
    EXPECT_THAT(refused({"listeners=SSL://127.0.0.1:0", "inter.broker.listener.name=SSL", "ssl.keystore.type=PEM",
                         "ssl.keystore.key=key-secret", "ssl.keystore.certificate.chain=chain-secret"}),
                Not(HasSubstr(std::string(kMarker))));
}

}  // namespace
}  // namespace partita::test
