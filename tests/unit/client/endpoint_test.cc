// Tests addresses, settings and the names of failures: what people write in files, and the texts of Kafka's clients about them.

#include <gtest/gtest.h>

#include "broker/client/endpoint.h"
#include "broker/client/librdkafka_names.h"
#include "broker/client/settings.h"

namespace partita::client {
namespace {

TEST(Bootstrap, AddressesAreReadAsKafkasClientsDo) {
    const auto endpoints = parse_bootstrap("localhost:9092, [::1]:9093,PLAINTEXT://broker-1.x:1,,");
    ASSERT_TRUE(endpoints);
    EXPECT_EQ(*endpoints, (std::vector<Endpoint>{{"localhost", 9092}, {"::1", 9093}, {"broker-1.x", 1}}));
    EXPECT_EQ(to_string((*endpoints)[1]), "[::1]:9093");
}

TEST(Bootstrap, WhatIsNoAddressIsRefusedInKafkasWords) {
    for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
             {"localhost", "Invalid url in bootstrap.servers: localhost"},
             {"localhost:", "Invalid url in bootstrap.servers: localhost:"},
             {"local host:1", "Invalid url in bootstrap.servers: local host:1"},
             {"<b>:9092", "Invalid url in bootstrap.servers: <b>:9092"},
             {"a:1,b", "Invalid url in bootstrap.servers: b"},
             {"a:65536", "Invalid port in bootstrap.servers: a:65536"},
             {"", "No resolvable bootstrap urls given in bootstrap.servers"},
             {" , ", "No resolvable bootstrap urls given in bootstrap.servers"},
         }) {
        const auto endpoints = parse_bootstrap(text);
        ASSERT_FALSE(endpoints) << text;
        EXPECT_EQ(endpoints.error().kind, Failure::Kind::bad_setting);
        EXPECT_EQ(endpoints.error().message, message);
    }
}

TEST(Bootstrap, MoreThanAThousandAddressesAreRefused) {
    std::string text;
    for (int i = 0; i < 1000; ++i) {
        text += "a:1,";
    }
    EXPECT_TRUE(parse_bootstrap(text));
    EXPECT_FALSE(parse_bootstrap(text + "a:1"));
}

TEST(ClientSettings, FilesOfKafkasClientsAreRead) {
    const auto settings = settings_of({{"bootstrap.servers", "a:1"},
                                       {"client.id", "me"},
                                       {"request.timeout.ms", "5"},
                                       {"default.api.timeout.ms", "6"},
                                       {"security.protocol", "plaintext"},
                                       {"key.deserializer", "Some.Class"}});
    ASSERT_TRUE(settings) << settings.error().message;
    EXPECT_EQ(settings->client_id, "me");
    EXPECT_EQ(settings->request_timeout_ms, 5);
    EXPECT_EQ(settings->default_api_timeout_ms, 6);
}

TEST(ClientSettings, WhatCannotBeUsedIsRefused) {
    const std::map<std::string, std::string> good{{"bootstrap.servers", "a:1"}};
    for (const auto& [name, value, message] : std::vector<std::tuple<std::string, std::string, std::string>>{
             {"request.timeout.ms", "soon", "Invalid value soon for configuration request.timeout.ms: Not a number of type INT"},
             {"retry.backoff.ms", "-1", "Invalid value -1 for configuration retry.backoff.ms: Value must be at least 0"},
             {"default.api.timeout.ms", "10",
              "The specified value of default.api.timeout.ms must be no smaller than the value of request.timeout.ms."},
             {"security.protocol", "TLS",
              "Invalid value TLS for configuration security.protocol: String must be one of (case insensitive): PLAINTEXT, "
              "SASL_PLAINTEXT, SASL_SSL, SSL"},
         }) {
        auto properties = good;
        properties[name] = value;
        const auto settings = settings_of(properties);
        ASSERT_FALSE(settings) << name;
        EXPECT_EQ(settings.error().message, message);
    }
    EXPECT_EQ(settings_of({}).error().message,
              "Missing required configuration \"bootstrap.servers\" which has no default value.");
}

TEST(ClientSettings, WhoLogsInIsReadFromTheJaasLine) {
    constexpr const char* kPlain =
        "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"alice\" password=\"s\";";
    constexpr const char* kScram =
        "org.apache.kafka.common.security.scram.ScramLoginModule required username=t password=h tokenauth=true;";
    const auto settings_with = [](const std::string& mechanism, const std::string& line) {
        return settings_of({{"bootstrap.servers", "a:1"},
                            {"security.protocol", "sasl_plaintext"},
                            {"sasl.mechanism", mechanism},
                            {"sasl.jaas.config", line}});
    };
    const auto plain = settings_with("PLAIN", kPlain);
    ASSERT_TRUE(plain && plain->login) << plain.error().message;
    EXPECT_EQ(plain->login->user + " " + plain->login->password, "alice s");
    EXPECT_FALSE(plain->login->by_token);
    EXPECT_TRUE(settings_with("SCRAM-SHA-512", kScram)->login->by_token);

    EXPECT_EQ(settings_with("GSSAPI", kPlain).error().message,
              "sasl.mechanism=GSSAPI is not served: only PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512 are");
    EXPECT_EQ(settings_with("PLAIN", "M required").error().message,
              "JAAS config entry not terminated by semi-colon (sasl.jaas.config, column 11)");
    EXPECT_NE(settings_with("PLAIN", kScram).error().message.find("names the login module"), std::string::npos);
    EXPECT_EQ(settings_with("SCRAM-SHA-256", "org.apache.kafka.common.security.scram.ScramLoginModule required username=a;")
                  .error()
                  .message,
              "sasl.jaas.config has no username or no password");
}

TEST(ClientSettings, LibrdkafkasNamesAreReadWhereJavasAreNotThere) {
    const auto settings = settings_of({{"metadata.broker.list", "a:1"},
                                       {"security.protocol", "sasl_plaintext"},
                                       {"sasl.mechanisms", "SCRAM-SHA-512"},
                                       {"sasl.username", "alice"},
                                       {"sasl.password", "s"},
                                       {"socket.timeout.ms", "7000"}});
    ASSERT_TRUE(settings && settings->login) << settings.error().message;
    EXPECT_EQ(settings->login->mechanism + " " + settings->login->user + " " + settings->login->password,
              "SCRAM-SHA-512 alice s");
    EXPECT_EQ(settings->bootstrap.front().host, "a");
    EXPECT_EQ(settings->request_timeout_ms, 7'000);
    const auto both = settings_of({{"bootstrap.servers", "b:1"}, {"metadata.broker.list", "a:1"}});
    EXPECT_EQ(both->bootstrap.front().host, "b");
    for (const char* missing : {"sasl.username", "sasl.password"}) {
        std::map<std::string, std::string> half{{"bootstrap.servers", "a:1"},
                                                {"security.protocol", "SASL_PLAINTEXT"},
                                                {"sasl.mechanism", "PLAIN"},
                                                {"sasl.username", "alice"},
                                                {"sasl.password", "s"}};
        half.erase(missing);
        EXPECT_NE(settings_of(half).error().message.find(std::string("is given without ") + missing), std::string::npos);
    }
}

TEST(ClientSettings, WhatIsNoSettingIsNearToOne) {
    for (const char* name :
         {"bootstrap.servers", "security.protocol", "sasl.username", "ssl.ca.location", "ssl.truststore.type"}) {
        EXPECT_TRUE(is_client_setting(name)) << name;
    }
    EXPECT_FALSE(is_client_setting("sasl.user"));
    EXPECT_EQ(similar_client_setting("sasl.usernam"), "sasl.username");
    EXPECT_EQ(similar_client_setting("no.such.setting"), "");
    EXPECT_EQ(similar_client_setting(std::string(1000, 's')), "");
}

TEST(ClientFailure, CodesHaveTheNamesOfKafkasExceptions) {
    EXPECT_EQ(exception_name(ErrorCode::unknown_topic_or_partition), "UnknownTopicOrPartitionException");
    EXPECT_EQ(exception_name(ErrorCode::non_empty_group), "GroupNotEmptyException");
    EXPECT_EQ(exception_name(ErrorCode::not_leader_or_follower), "NotLeaderOrFollowerException");
    EXPECT_EQ(refusal(ErrorCode::group_id_not_found).message, error_message(ErrorCode::group_id_not_found));
    EXPECT_EQ(refusal(ErrorCode::group_id_not_found, "other").message, "other");
}

}  // namespace
}  // namespace partita::client
