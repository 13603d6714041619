#include "broker/config/broker_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "broker/config/broker_rules.h"
#include "broker/config/describe_configs.h"
#include "broker/config/dynamic_rules.h"
#include "broker/config/topic_config.h"

namespace partita::config {
namespace {

LoadedBrokerConfig loaded(ConfigInputs inputs) {
    auto result = load_broker_config(inputs);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
    return result.value_or(LoadedBrokerConfig{});
}

TEST(BrokerConfig, FieldsHaveTheDefaultsOfTheirDefinitions) {
    const BrokerConfig plain;
    EXPECT_EQ(plain.num_partitions, 1);
    EXPECT_EQ(plain.socket_request_max_bytes, 104857600);
    EXPECT_EQ(plain.log_cleaner_io_buffer_load_factor, 0.9);
    EXPECT_TRUE(plain.adopt_directories == false && plain.connections_gather && plain.polling_enable);
    EXPECT_EQ(plain.log_dirs, std::vector<std::string>{"./partita-data"});
    EXPECT_EQ(plain.http_listener, (AdvertisedAddress{"localhost", 8092}));
    EXPECT_EQ(plain.group_coordinator_rebalance_protocols, RebalanceProtocols{});
    EXPECT_EQ(plain.group_consumer_assignors, (std::vector<std::string>{"uniform", "range"}));
    EXPECT_EQ(plain.group_initial_rebalance_delay_ms, 0) << "3000 in Kafka";
    EXPECT_EQ(plain.value("transaction.abort.timed.out.transaction.cleanup.interval.ms"), ConfigValue{10000});
}

TEST(TopicConfig, FieldsHaveTheDefaultsOfTheirDefinitions) {
    const TopicConfig plain;
    EXPECT_TRUE(plain.cleanup_delete && !plain.cleanup_compact);
    EXPECT_EQ(plain.retention_ms, 604800000);
    EXPECT_EQ(plain.segment_bytes, 1073741824);
    EXPECT_EQ(plain.expansion_fence_timeout_ms, 120000);
    EXPECT_EQ(effective_topic_config({}, loaded({}).config), plain);
}

TEST(BrokerConfig, OverridesBeatEnvironmentBeatsFileBeatsDefault) {
    const ConfigInputs inputs{.properties = "num.partitions=2\nfetch.max.bytes=2048\nlog.dirs=/a,/b\n",
                              .environment = {"KAFKA_NUM_PARTITIONS=3", "KAFKA_FETCH_MAX_BYTES=4096", "HOME=/root"},
                              .overrides = {"num.partitions=4", "num.partitions=5"}};
    const BrokerConfig config = loaded(inputs).config;
    EXPECT_EQ(config.num_partitions, 5);
    EXPECT_EQ(config.fetch_max_bytes, 4096);
    EXPECT_THAT(config.log_dirs, testing::ElementsAre("/a", "/b"));
    EXPECT_EQ(config.value("num.io.threads"), ConfigValue{8});
}

TEST(BrokerConfig, UnknownNamesAreCollectedAndKnownUselessOnesAreNot) {
    const LoadedBrokerConfig result = loaded({.properties = "zookeeper.connect=x\nfoo=1\nprocess.roles=broker\n"
                                                            "listener.name.x.ssl.keystore.type=PEM\n"
                                                            "controller.quorum.voters=1@h:1\n",
                                              .environment = {"KAFKA_BAR_BAZ=1"},
                                              .overrides = {}});
    EXPECT_THAT(result.unknown_names, testing::ElementsAre("bar.baz", "foo"));
    EXPECT_EQ(result.config.given().at("controller.quorum.voters"), "1@h:1");
}

TEST(BrokerConfig, InvalidValueNamesKeyValueAndWhatIsAllowed) {
    const auto zero = load_broker_config({.properties = {}, .environment = {}, .overrides = {"num.partitions=0"}});
    ASSERT_FALSE(zero.has_value());
    EXPECT_EQ(zero.error().message,
              "Invalid value 0 for configuration num.partitions: Value must be at least 1 (allowed: a 32-bit integer "
              "of at least 1)");
    const auto text = load_broker_config({.properties = {}, .environment = {"KAFKA_LOG_ROLL_MS=x"}, .overrides = {}});
    ASSERT_FALSE(text.has_value());
    EXPECT_EQ(text.error().message,
              "Invalid value x for configuration log.roll.ms: Not a number of type LONG (allowed: a 64-bit integer)");
}

TEST(BrokerConfig, RetentionOfTopicsFollowsTheFirstOfMillisecondsMinutesHours) {
    const auto retention = [](const std::vector<std::string>& overrides) {
        return effective_topic_config({}, loaded({.properties = {}, .environment = {}, .overrides = overrides}).config)
            ->retention_ms;
    };
    EXPECT_EQ(retention({}), 604800000);
    EXPECT_EQ(retention({"log.retention.hours=1"}), 3600000);
    EXPECT_EQ(retention({"log.retention.hours=1", "log.retention.minutes=2"}), 120000);
    EXPECT_EQ(retention({"log.retention.hours=1", "log.retention.minutes=2", "log.retention.ms=3"}), 3);
    EXPECT_EQ(retention({"log.retention.hours=-5"}), -1);
}

TEST(BrokerConfig, DynamicValueHidesEveryStaticNameOfTheSameThing) {
    const BrokerConfig fixed = loaded({.properties = {}, .environment = {}, .overrides = {"log.retention.minutes=2"}}).config;
    const auto changed = fixed.with_dynamic({{{"log.retention.ms", "7000"}}, {}});
    ASSERT_TRUE(changed.has_value());
    EXPECT_EQ(effective_topic_config({}, *changed)->retention_ms, 7000);
    EXPECT_EQ(effective_topic_config({{"retention.ms", "9"}}, *changed)->retention_ms, 9);
    EXPECT_EQ(std::get<std::int64_t>(changed->value("log.retention.ms")), 7000);
}

TEST(BrokerConfig, ThisBrokersValueBeatsTheClustersDefault) {
    const auto config = BrokerConfig{}.with_dynamic({{{"max.connections", "5"}}, {{"max.connections", "6"}}});
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(config->max_connections, 6);
}

TEST(BrokerConfig, EmptyHttpListenerSwitchesItOffAndABadOneIsRefused) {
    EXPECT_EQ(loaded({.properties = {}, .environment = {}, .overrides = {"partita.http.listener="}}).config.http_listener,
              std::nullopt);
    EXPECT_EQ(loaded({.properties = {}, .environment = {}, .overrides = {"partita.http.listener=[::1]:0"}}).config.http_listener,
              (AdvertisedAddress{"::1", 0}));
    EXPECT_FALSE(load_broker_config({.properties = {}, .environment = {}, .overrides = {"partita.http.listener=x"}}));
}

TEST(BrokerConfig, TheHttpListenerSaysWhetherItHasTls) {
    const auto at = [](const std::string& listener) {
        return loaded({.properties = {}, .environment = {}, .overrides = {"partita.http.listener=" + listener}}).config;
    };
    EXPECT_FALSE(at("localhost:1").http_has_tls);
    EXPECT_FALSE(at("http://localhost:1").http_has_tls);
    EXPECT_TRUE(at("https://[::1]:1").http_has_tls);
    EXPECT_EQ(at("https://[::1]:1").http_listener, (AdvertisedAddress{"::1", 1}));
    for (const char* wrong : {"ftp://localhost:1", "https://", "https://localhost", "https://localhost:1/x"}) {
        EXPECT_FALSE(load_broker_config(
            {.properties = {}, .environment = {}, .overrides = {"partita.http.listener=" + std::string(wrong)}}))
            << wrong;
    }
}

TEST(BrokerConfig, BeyondThisMachineTheHttpSideNeedsTokenAndTls) {
    const auto refusal = [](std::vector<std::string> overrides) {
        const auto made = load_broker_config({.properties = {}, .environment = {}, .overrides = std::move(overrides)});
        return made ? std::string() : made.error().message;
    };
    for (const char* own : {"localhost:1", "127.0.0.1:1", "127.1.2.3:1", "[::1]:1"}) {
        EXPECT_EQ(refusal({"partita.http.listener=" + std::string(own)}), "") << own;
    }
    for (const char* open : {"0.0.0.0:1", ":1", "[::]:1", "10.1.2.3:1", "https://0.0.0.0:1"}) {
        const std::string listener = "partita.http.listener=" + std::string(open);
        EXPECT_NE(refusal({listener}).find("partita.http.token.file"), std::string::npos) << open;
        EXPECT_NE(refusal({listener}).find("partita.http.open=health"), std::string::npos) << open;
        EXPECT_EQ(refusal({listener, "partita.http.open=health"}), "") << open;
        EXPECT_EQ(refusal({listener, "partita.http.open=all"}), "") << open;
    }
    const std::string token = "partita.http.token=0123456789abcdef";
    EXPECT_NE(refusal({"partita.http.listener=0.0.0.0:1", token}).find("partita.http.plaintext=true"), std::string::npos);
    EXPECT_EQ(refusal({"partita.http.listener=0.0.0.0:1", token}).find("0123456789abcdef"), std::string::npos);
    EXPECT_NE(refusal({"partita.http.listener=0.0.0.0:1", token, "partita.http.open=health"}), "") << "the token would be sent";
    EXPECT_EQ(refusal({"partita.http.listener=0.0.0.0:1", token, "partita.http.plaintext=true"}), "");
    EXPECT_EQ(refusal({"partita.http.listener=https://0.0.0.0:1", token}), "");
    EXPECT_EQ(refusal({"partita.http.listener=https://0.0.0.0:1", "partita.http.token.file=/some/file"}), "");
    EXPECT_NE(refusal({"partita.http.open=everything"}), "");
    for (const char* principal : {"User:", ":a", "admin", ""}) {
        EXPECT_NE(refusal({"partita.http.principal=" + std::string(principal)}), "") << principal;
    }
}

TEST(BrokerConfig, AStarCordonsEveryDirectory) {
    const auto cordoned = [](const std::string& value) {
        return is_cordoned(BrokerConfig::from({{"log.dirs", "/a,/b"}, {"cordoned.log.dirs", value}}).value(), "/a");
    };
    EXPECT_TRUE(cordoned("/a"));
    EXPECT_TRUE(cordoned("*"));
    EXPECT_FALSE(cordoned("/b"));
    EXPECT_FALSE(cordoned(""));
}

TEST(TopicConfig, EveryTypedFieldFollowsItsOverride) {
    const ConfigMap overrides = {
        {"cleanup.policy", "compact"}, {"compression.type", "zstd"},         {"message.timestamp.type", "LogAppendTime"},
        {"segment.bytes", "1048576"},  {"min.cleanable.dirty.ratio", ".25"}, {"partita.expansion.guard.override", "TRUE"}};
    const auto config = effective_topic_config(overrides, BrokerConfig{});
    ASSERT_TRUE(config.has_value());
    EXPECT_TRUE(config->cleanup_compact);
    EXPECT_FALSE(config->cleanup_delete);
    EXPECT_EQ(config->compression_type, CompressionSetting::zstd);
    EXPECT_EQ(config->message_timestamp_type, TimestampType::log_append_time);
    EXPECT_EQ(config->segment_bytes, 1048576);
    EXPECT_EQ(config->min_cleanable_dirty_ratio, 0.25);
    EXPECT_TRUE(config->expansion_guard_override);
}

TEST(TopicConfig, InternalSegmentBytesGoesBelowTheLimitOfSegmentBytes) {
    EXPECT_EQ(effective_topic_config({{"internal.segment.bytes", "500"}}, BrokerConfig{})->segment_bytes, 500);
}

TEST(DescribeConfigs, FreshTopicShowsOnlyMinInsyncReplicasAsNotDefault) {
    const auto broker = BrokerConfig::from({})->with_dynamic({initial_cluster_default_configs(BrokerConfig()), {}});
    std::vector<std::string> not_default;
    for (const ConfigEntry& entry : describe_topic_configs({}, *broker, {})) {
        EXPECT_TRUE(entry.synonyms.empty());
        EXPECT_EQ(entry.documentation, std::nullopt);
        if (entry.source != ConfigSource::default_config) {
            not_default.push_back(entry.name + "=" + entry.value.value_or(""));
        }
    }
    EXPECT_THAT(not_default, testing::ElementsAre("min.insync.replicas=1"));
}

TEST(DescribeConfigs, OnlyNamesAskedForThatExistAreGiven) {
    const DescribeOptions options{.names = {{"retention.ms", "nope"}}, .include_synonyms = false, .include_documentation = true};
    const auto entries = describe_topic_configs({}, BrokerConfig{}, options);
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_EQ(entries[0].name, "retention.ms");
    EXPECT_FALSE(entries[0].documentation.value_or("").empty());
}

TEST(DescribeConfigs, PasswordsAndUnknownNamesAreNeverShown) {
    const auto broker = BrokerConfig::from({{"ssl.key.password", "secret"}, {"foo", "secret"}});
    ASSERT_TRUE(broker.has_value());
    const DescribeOptions options{
        .names = {{"ssl.key.password", "foo"}}, .include_synonyms = true, .include_documentation = true};
    for (const ConfigEntry& entry : describe_broker_configs(*broker, options)) {
        EXPECT_TRUE(entry.sensitive);
        EXPECT_EQ(entry.value, std::nullopt);
        for (const SynonymEntry& synonym : entry.synonyms) {
            EXPECT_EQ(synonym.value, std::nullopt);
        }
    }
}

TEST(DescribeConfigs, PlacesAreShownUnlessTheyWereGiven) {
    const ConfigMap places = {{"partita.http.advertised", "here:1"}, {"partita.data.directory", "/data"}};
    const DescribeOptions options{.names = {{"partita.data.directory", "partita.http.advertised"}}};
    const auto shown = [&](const std::map<std::string, std::string>& given) {
        const auto broker = BrokerConfig::from({given.begin(), given.end()});
        std::map<std::string, std::string> values;
        for (const ConfigEntry& entry : describe_broker_configs(broker.value_or(BrokerConfig{}), options, places)) {
            values[entry.name] = entry.value.value_or("");
        }
        return values;
    };
    EXPECT_EQ(shown({}),
              (std::map<std::string, std::string>{{"partita.data.directory", "/data"}, {"partita.http.advertised", "here:1"}}));
    EXPECT_EQ(shown({{"partita.http.advertised", "there:2"}})["partita.http.advertised"], "there:2");
}

TEST(Definitions, EveryConfigIsDocumentedAndItsDefaultIsValid) {
    for (const ConfigDefinition& definition : broker_config_definitions()) {
        EXPECT_FALSE(definition.documentation.empty()) << definition.name;
        if (definition.default_value) {
            EXPECT_TRUE(parse_config_value(definition, definition.default_value).has_value()) << definition.name;
        }
    }
    for (const TopicConfigDefinition& topic : topic_config_definitions()) {
        for (const ConfigSynonym& synonym : topic.broker_synonyms) {
            EXPECT_NE(find_broker_config(synonym.broker_config), nullptr) << synonym.broker_config;
        }
    }
}

const std::string kStandardAuthorizer = "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer";

std::expected<LoadedBrokerConfig, ConfigError> loaded_with(std::vector<std::string> overrides) {
    ConfigInputs inputs;
    inputs.overrides = std::move(overrides);
    return load_broker_config(inputs);
}

std::optional<AuthorizerSettings> authorizer_of(const BrokerConfig& config) {
    return authorizer_settings(config.given()).value_or(std::nullopt);
}

TEST(Authorizer, WithoutAClassNobodyIsAsked) {
    EXPECT_FALSE(authorizer_of(loaded_with({}).value().config).has_value());
    const auto of_nobody = loaded_with({"authorizer.class.name=", "super.users=nonsense", "allow.everyone.if.no.acl.found=true"});
    ASSERT_TRUE(of_nobody.has_value()) << of_nobody.error().message;
    EXPECT_FALSE(authorizer_of(of_nobody->config).has_value());
}

TEST(Authorizer, SuperUsersStandBetweenSemicolonsAsKafkaReadsThem) {
    const auto config =
        loaded_with({kStandardAuthorizer, "super.users= User:CN=a,OU=b ;;Group:c:d; ", "allow.everyone.if.no.acl.found= TRUE "});
    ASSERT_TRUE(config.has_value()) << config.error().message;
    EXPECT_TRUE(config->unknown_names.empty()) << config->unknown_names.front();
    EXPECT_EQ(authorizer_of(config->config), (AuthorizerSettings{{"User:CN=a,OU=b", "Group:c:d"}, true}));
    EXPECT_EQ(authorizer_of(loaded_with({kStandardAuthorizer, "allow.everyone.if.no.acl.found=yes"}).value().config),
              AuthorizerSettings{});
}

TEST(Authorizer, AnotherClassIsRefusedWithOneLine) {
    for (const std::string name : {"kafka.security.authorizer.AclAuthorizer", "com.example.Mine"}) {
        const auto refused = loaded_with({"authorizer.class.name=" + name});
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().message,
                  "Invalid value " + name +
                      " for configuration authorizer.class.name: unknown class; use "
                      "org.apache.kafka.metadata.authorizer.StandardAuthorizer, or nothing for no authorizer");
    }
}

TEST(Authorizer, ASuperUserWithoutATypeIsRefused) {
    const auto refused = loaded_with({kStandardAuthorizer, "super.users=User:a;admin"});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().message,
              "Invalid value User:a;admin for configuration super.users: expected a string in format "
              "principalType:principalName but got admin");
}

TEST(Authorizer, ItsSettingsStayWhenADynamicConfigChanges) {
    const auto config = loaded_with({kStandardAuthorizer, "super.users=User:a"});
    const auto changed =
        config.value().config.with_dynamic({.cluster_default = {{"log.cleaner.threads", "2"}}, .this_broker = {}});
    ASSERT_TRUE(changed.has_value()) << changed.error().message;
    EXPECT_EQ(authorizer_of(*changed), (AuthorizerSettings{{"User:a"}, false}));
}

// The broker asks providers at its start only, and the name of a value must not become the value.
TEST(DynamicBrokerConfig, AVariableOfAProviderIsRefused) {
    const auto config = loaded_with(
        {"config.providers=env", "config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider"});
    ASSERT_TRUE(config.has_value());
    const BrokerConfig& broker = config->config;
    const auto refused =
        validate_broker_configs(broker, BrokerScope::this_broker, {{"listener.name.external.sasl.jaas.config", "${env:SECRET}"}});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("asks the provider 'env' at its start only"));
    EXPECT_TRUE(validate_broker_configs(broker, BrokerScope::this_broker,
                                        {{"listener.name.external.sasl.jaas.config", "login password=\"${other:x}\";"}}))
        << "no provider of this name is there, so it is a text like any other";
}

}  // namespace
}  // namespace partita::config
