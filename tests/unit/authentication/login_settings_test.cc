#include "broker/authentication/login_settings.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace partita::authentication {
namespace {

using Given = std::map<std::string, std::string, std::less<>>;

using FetchKeys = decltype(LoginConfigs::fetch_keys);

std::expected<LoginSettings, std::string> settings_of(const Given& given, const std::string& file = "",
                                                      FetchKeys fetch_keys = {}) {
    return make_login_settings({.listener = "SASL_PLAINTEXT",
                                .value = [&](std::string_view name) -> std::optional<std::string> {
                                    const auto found = given.find(name);
                                    return found == given.end() ? std::nullopt : std::optional(found->second);
                                },
                                .read_file = [&](const std::string& path) -> std::expected<std::string, std::string> {
                                    if (path == "/keys.json") {
                                        return file;
                                    }
                                    return std::unexpected("cannot read " + path);
                                },
                                .fetch_keys = std::move(fetch_keys)});
}

std::string settings_error(const Given& given, const std::string& file = "") {
    const auto settings = settings_of(given, file);
    return settings ? "" : settings.error();
}

constexpr std::string_view kPackage = "org.apache.kafka.common.security.";

Given with_plain() {
    return {{"sasl.enabled.mechanisms", "PLAIN"},
            {"listener.name.sasl_plaintext.plain.sasl.jaas.config",
             std::string(kPackage) +
                 "plain.PlainLoginModule required username=\"admin\" password=\"x\" user_admin=\"x\" user_alice=\"y\";"}};
}

Given with_signed_tokens() {
    return {{"sasl.enabled.mechanisms", "OAUTHBEARER"},
            {"listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config",
             std::string(kPackage) + "oauthbearer.OAuthBearerLoginModule required;"},
            {"listener.name.sasl_plaintext.oauthbearer.sasl.server.callback.handler.class",
             std::string(kPackage) + "oauthbearer.OAuthBearerValidatorCallbackHandler"},
            {"sasl.oauthbearer.jwks.endpoint.url", "file:///keys.json"}};
}

constexpr std::string_view kKeys =
    R"({"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]})";

TEST(LoginSettings, UsersOfPlainAreTheOptionsOfItsModule) {
    const auto settings = settings_of(with_plain());
    ASSERT_TRUE(settings) << settings.error();
    EXPECT_EQ(settings->users, (PlainUsers{{"admin", "x"}, {"alice", "y"}}));
    ASSERT_EQ(settings->offers.size(), 1u);
    EXPECT_EQ(settings->offers[0].session_ms_max, 0);
    EXPECT_NE(settings->find("PLAIN"), nullptr);
    EXPECT_EQ(settings->find("plain"), nullptr);
}

TEST(LoginSettings, AMechanismsOwnValueGoesBeforeTheListenersAndThisBeforeTheBrokers) {
    Given given = with_plain();
    given["connections.max.reauth.ms"] = "1";
    EXPECT_EQ(settings_of(given)->offers[0].session_ms_max, 1);
    given["listener.name.sasl_plaintext.connections.max.reauth.ms"] = "2";
    EXPECT_EQ(settings_of(given)->offers[0].session_ms_max, 2);
    given["listener.name.sasl_plaintext.plain.connections.max.reauth.ms"] = "3";
    EXPECT_EQ(settings_of(given)->offers[0].session_ms_max, 3);
    given["listener.name.sasl_plaintext.sasl.enabled.mechanisms"] = "SCRAM-SHA-256";
    EXPECT_NE(settings_error(given), "");
}

TEST(LoginSettings, MechanismsAreToldInTheOrderOfAJavaHashSet) {
    // The order in which a JVM prints new ArrayList<>(new HashSet<>(List.of(...))).
    EXPECT_EQ(in_told_order({"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"}),
              (std::vector<std::string>{"PLAIN", "SCRAM-SHA-512", "SCRAM-SHA-256", "OAUTHBEARER"}));
    EXPECT_EQ(in_told_order({"SCRAM-SHA-512", "PLAIN", "PLAIN"}), (std::vector<std::string>{"SCRAM-SHA-512", "PLAIN"}));
    EXPECT_EQ(in_told_order({"OAUTHBEARER", "SCRAM-SHA-256"}), (std::vector<std::string>{"SCRAM-SHA-256", "OAUTHBEARER"}));
}

TEST(LoginSettings, KerberosAndUnknownMechanismsAreRefusedWithOneLine) {
    EXPECT_EQ(settings_error({{"sasl.enabled.mechanisms", "GSSAPI"}}),
              "sasl.enabled.mechanisms of listener SASL_PLAINTEXT has GSSAPI (Kerberos), the default of Kafka, which this broker "
              "does not "
              "serve: it serves PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER");
    EXPECT_NE(settings_error({{"sasl.enabled.mechanisms", "plain"}}).find("has plain, which"), std::string::npos);
    EXPECT_EQ(settings_error({{"sasl.enabled.mechanisms", ""}}), "No SASL mechanisms are enabled (sasl.enabled.mechanisms)");
}

TEST(LoginSettings, ALineThatIsMissingOrWrongIsRefusedWithItsName) {
    Given given = with_plain();
    std::string& line = given["listener.name.sasl_plaintext.plain.sasl.jaas.config"];
    line = std::string(kPackage) + "plain.PlainLoginModule required user_alice=\"secret\"";
    EXPECT_EQ(settings_error(given),
              "JAAS config entry not terminated by semi-colon (listener.name.sasl_plaintext.plain.sasl.jaas.config, line 1, "
              "column 85)");
    line =
        std::string(kPackage) + "plain.PlainLoginModule required; " + std::string(kPackage) + "plain.PlainLoginModule required;";
    EXPECT_TRUE(settings_error(given).starts_with("JAAS config property contains 2 login modules, should be 1 module"));
    line = "com.example.Module required;";
    EXPECT_NE(settings_error(given).find("names the login module com.example.Module"), std::string::npos);
    given.erase("listener.name.sasl_plaintext.plain.sasl.jaas.config");
    EXPECT_NE(settings_error(given).find("set listener.name.sasl_plaintext.plain.sasl.jaas.config="), std::string::npos);
}

TEST(LoginSettings, ALineWithoutPrefixesCountsWhereNothingElseNamesUsers) {
    // Kafka ignores it, and then does not start.
    Given given = {{"sasl.enabled.mechanisms", "PLAIN"},
                   {"sasl.jaas.config", std::string(kPackage) + "plain.PlainLoginModule required user_carol=\"c\";"}};
    EXPECT_EQ(settings_of(given)->users, (PlainUsers{{"carol", "c"}}));
    given.merge(with_plain());
    EXPECT_EQ(settings_of(given)->users, (PlainUsers{{"admin", "x"}, {"alice", "y"}}));
    given["sasl.enabled.mechanisms"] = "SCRAM-SHA-256";
    EXPECT_NE(settings_error(given).find("sasl.jaas.config names the login module"), std::string::npos);
}

TEST(LoginSettings, SectionsOfAJaasFileAreReadByListenerAndByMechanism) {
    const std::string plain = std::string(kPackage) + "plain.PlainLoginModule required user_";
    const Given given = {{"sasl.enabled.mechanisms", "PLAIN"}, {"partita.jaas.file", "/keys.json"}};
    EXPECT_EQ(settings_of(given, "KafkaServer { " + plain + "a=\"1\"; };")->users, (PlainUsers{{"a", "1"}}));
    EXPECT_EQ(settings_of(given, "KafkaServer { " + plain + "a=\"1\"; };\nsasl_plaintext.KafkaServer { " + plain + "b=\"2\"; };")
                  ->users,
              (PlainUsers{{"b", "2"}}));
    EXPECT_NE(settings_error(given, "KafkaServer { " + std::string(kPackage) + "scram.ScramLoginModule required; };")
                  .find("the section KafkaServer of partita.jaas.file=/keys.json has no login module for PLAIN"),
              std::string::npos);
    EXPECT_NE(settings_error(given, "KafkaServer { " + plain + "a=\"${user.home}\"; };").find("has a variable of Java's"),
              std::string::npos);
    EXPECT_NE(settings_error(given, "KafkaServer {\n " + plain + "a=\"1\"\n};").find("partita.jaas.file=/keys.json, line "),
              std::string::npos);
}

TEST(LoginSettings, ClassesOfOthersAreRefused) {
    Given given = with_plain();
    given["listener.name.sasl_plaintext.plain.sasl.server.callback.handler.class"] = "com.example.Handler";
    EXPECT_NE(settings_error(given).find("com.example.Handler"), std::string::npos);
    given["listener.name.sasl_plaintext.plain.sasl.server.callback.handler.class"] =
        std::string(kPackage) + "plain.internals.PlainServerCallbackHandler";
    EXPECT_EQ(settings_error(given), "");
}

TEST(LoginSettings, WithoutAHandlerTokensNeedNoSignatureAsInKafka) {
    const Given given{
        {"sasl.enabled.mechanisms", "OAUTHBEARER"},
        {"listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config",
         std::string(kPackage) + "oauthbearer.OAuthBearerLoginModule required unsecuredValidatorRequiredScope=\"a b\" "
                                 "unsecuredValidatorAllowableClockSkewMs=\"3000\" unsecuredValidatorPrincipalClaimName=name;"}};
    const auto settings = settings_of(given);
    ASSERT_TRUE(settings) << settings.error();
    const auto* rules = std::get_if<UnsecuredTokens>(&settings->tokens);
    ASSERT_NE(rules, nullptr);
    EXPECT_EQ(rules->required_scope, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(rules->clock_skew_ms, 3000);
    EXPECT_EQ(rules->principal_claim, "name");
    EXPECT_EQ(rules->scope_claim, "scope");
}

TEST(LoginSettings, SignedTokensAreCheckedByTheKeysOfAFile) {
    Given given = with_signed_tokens();
    given["sasl.oauthbearer.expected.audience"] = "a, b";
    given["listener.name.sasl_plaintext.oauthbearer.sasl.oauthbearer.expected.issuer"] = "https://issuer";
    given["sasl.oauthbearer.clock.skew.seconds"] = "5";
    given["sasl.oauthbearer.sub.claim.name"] = "client_id";
    const auto settings = settings_of(given, std::string(kKeys));
    ASSERT_TRUE(settings) << settings.error();
    const auto* rules = std::get_if<SignedTokens>(&settings->tokens);
    ASSERT_NE(rules, nullptr);
    EXPECT_EQ(rules->keys.keys().size(), 1u);
    EXPECT_EQ(rules->audience, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(rules->issuer, "https://issuer");
    EXPECT_EQ(rules->clock_skew_seconds, 5);
    EXPECT_EQ(rules->subject_claim, "client_id");
}

class NoKeys final : public KeySource {
  public:
    std::shared_ptr<const KeySet> keys() const override { return std::make_shared<const KeySet>(); }
    void miss(std::string_view) override {}
};

TEST(LoginSettings, KeysOfAUrlAreFetchedAsTheSettingsSay) {
    Given given = with_signed_tokens();
    given["sasl.oauthbearer.jwks.endpoint.url"] = " https://issuer/keys ";
    given["sasl.oauthbearer.jwks.endpoint.refresh.ms"] = "60000";
    given["listener.name.sasl_plaintext.oauthbearer.sasl.oauthbearer.jwks.endpoint.retry.backoff.ms"] = "7";
    given["listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config"] =
        std::string(kPackage) + "oauthbearer.OAuthBearerLoginModule required ssl.truststore.location=\"/ca.pem\" other=\"x\";";
    const auto source = std::make_shared<NoKeys>();
    std::optional<KeySetPlace> asked;
    const auto settings = settings_of(given, "", [&](KeySetPlace place) {
        asked = std::move(place);
        return source;
    });
    ASSERT_TRUE(settings) << settings.error();
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->url, "https://issuer/keys");
    EXPECT_EQ(asked->refresh_ms, 60'000);
    EXPECT_EQ(asked->retry_ms_min, 7);
    EXPECT_EQ(asked->retry_ms_max, 10'000);
    EXPECT_EQ(asked->tls, (std::map<std::string, std::string>{{"ssl.truststore.location", "/ca.pem"}}));
    const auto* rules = std::get_if<SignedTokens>(&settings->tokens);
    ASSERT_NE(rules, nullptr);
    EXPECT_EQ(rules->source, source);
    given["sasl.oauthbearer.jwks.endpoint.refresh.ms"] = "0";
    EXPECT_NE(settings_error(given).find("sasl.oauthbearer.jwks.endpoint.refresh.ms"), std::string::npos);
}

TEST(LoginSettings, ASignatureThatNobodyCouldCheckIsRefusedAtTheStart) {
    Given given = with_signed_tokens();
    EXPECT_NE(settings_error(given, R"({"keys":[]})").find("no key in it can check a signature"), std::string::npos);
    EXPECT_NE(settings_error(given, "{}").find("it is not a JSON Web Key Set"), std::string::npos);
    given["sasl.oauthbearer.jwks.endpoint.url"] = "file:///missing.json";
    EXPECT_NE(settings_error(given).find("cannot read /missing.json"), std::string::npos);
    given["sasl.oauthbearer.jwks.endpoint.url"] = "ftp://issuer/keys";
    EXPECT_NE(settings_error(given).find("use a file (file:///path/keys.json)"), std::string::npos);
    given.erase("sasl.oauthbearer.jwks.endpoint.url");
    EXPECT_NE(settings_error(given).find("sasl.oauthbearer.jwks.endpoint.url value must be non-null"), std::string::npos);
}

}  // namespace
}  // namespace partita::authentication
