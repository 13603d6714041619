#include "broker/config/listener_configs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace partita::config {
namespace {

using testing::HasSubstr;

TEST(ListenerConfigs, WhatIsGivenForTheListenerHidesWhatIsGivenForAll) {
    const ConfigMap given = {{"ssl.client.auth", "required"}, {"listener.name.out.ssl.client.auth", "requested"}};
    EXPECT_EQ(ListenerConfigs(given, "OUT").string("ssl.client.auth"), "requested");
    EXPECT_EQ(ListenerConfigs(given, "IN").string("ssl.client.auth"), "required");
    EXPECT_EQ(ListenerConfigs(ConfigMap{}, "IN").string("ssl.client.auth"), "none");
}

TEST(ListenerConfigs, TheListenersNameIsWrittenInLowerCaseAndNotOtherwise) {
    EXPECT_EQ(ListenerConfigs(ConfigMap{{"listener.name.OUT.ssl.client.auth", "requested"}}, "OUT").string("ssl.client.auth"),
              "none");
    EXPECT_EQ(ListenerConfigs(ConfigMap{}, "OUT").prefix(), "listener.name.out.");
}

TEST(ListenerConfigs, APrefixOfANameIsAnotherListener) {
    const ConfigMap given = {{"listener.name.outside.ssl.client.auth", "requested"}};
    EXPECT_EQ(ListenerConfigs(given, "out").string("ssl.client.auth"), "none");
}

TEST(ListenerConfigs, KeysOfAMechanismAreFoundByTheirTextAlone) {
    const ListenerConfigs configs(ConfigMap{{"listener.name.out.plain.sasl.jaas.config", "x;"}}, "OUT");
    EXPECT_EQ(configs.own_text("plain.sasl.jaas.config"), "x;");
    EXPECT_EQ(configs.text("plain.sasl.jaas.config"), "x;");
    EXPECT_EQ(configs.own_text("scram-sha-256.sasl.jaas.config"), std::nullopt);
}

TEST(ListenerConfigs, DynamicValuesHideThoseOfTheStart) {
    const auto broker = BrokerConfig::from({{"listener.name.plaintext.ssl.keystore.location", "/old"}});
    ASSERT_TRUE(broker.has_value());
    const auto altered = broker->with_dynamic({.this_broker = {{"listener.name.plaintext.ssl.keystore.location", "/new"}}});
    ASSERT_TRUE(altered.has_value());
    EXPECT_EQ(ListenerConfigs(*broker, "PLAINTEXT").string("ssl.keystore.location"), "/old");
    EXPECT_EQ(ListenerConfigs(*altered, "PLAINTEXT").string("ssl.keystore.location"), "/new");
}

TEST(ListenerConfigs, AValueIsNamedAsItWasGiven) {
    const ListenerConfigs configs(ConfigMap{{"listener.name.out.ssl.keystore.type", "PEM"}}, "OUT");
    EXPECT_EQ(configs.name_of("ssl.keystore.type"), "listener.name.out.ssl.keystore.type");
    EXPECT_EQ(configs.name_of("ssl.truststore.type"), "ssl.truststore.type");
}

TEST(ListenerConfigs, AWrongValueUnderAPrefixRefusesTheStartWithItsWholeName) {
    const auto refused = BrokerConfig::from({{"listener.name.plaintext.ssl.client.auth", "perhaps"}});
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message,
                HasSubstr("Invalid value perhaps for configuration listener.name.plaintext.ssl.client.auth"));
    EXPECT_TRUE(BrokerConfig::from({{"listener.name.nobody.ssl.client.auth", "perhaps"}}).has_value());
}

}  // namespace
}  // namespace partita::config
