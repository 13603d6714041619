#include <gtest/gtest.h>

#include <algorithm>

#include "broker/config/broker_config.h"
#include "broker/config/describe_configs.h"
#include "broker/config/topic_config.h"

namespace partita::config {
namespace {

BrokerConfig broker_with(std::vector<std::string> overrides) {
    auto loaded = load_broker_config({.properties = {}, .environment = {}, .overrides = std::move(overrides)});
    EXPECT_TRUE(loaded.has_value());
    return loaded->config;
}

bool describes(const std::vector<ConfigEntry>& entries, std::string_view name) {
    return std::ranges::find(entries, name, &ConfigEntry::name) != entries.end();
}

TEST(ExpansionConfig, TopicIsFaithfulUnlessSomebodySaysOtherwise) {
    const auto config = effective_topic_config({}, broker_with({}));
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(config->expansion_mode, ExpansionMode::faithful);
    EXPECT_EQ(*config, TopicConfig{});
}

TEST(ExpansionConfig, BrokerGivesTheDefaultAndTheTopicOverridesIt) {
    const BrokerConfig broker = broker_with({"partita.default.expansion.mode=guarded"});
    EXPECT_EQ(effective_topic_config({}, broker)->expansion_mode, ExpansionMode::guarded);
    EXPECT_EQ(effective_topic_config({{"partita.expansion.mode", "safe-offsets"}}, broker)->expansion_mode,
              ExpansionMode::safe_offsets);
}

TEST(ExpansionConfig, EveryModeHasItsNameBack) {
    for (const char* name : {"faithful", "safe-offsets", "guarded", "fenced"}) {
        const auto config = effective_topic_config({{"partita.expansion.mode", name}}, BrokerConfig{});
        ASSERT_TRUE(config.has_value()) << name;
        EXPECT_EQ(expansion_mode_name(config->expansion_mode), name);
    }
}

TEST(ExpansionConfig, UnknownModeIsRefusedWithTheAllowedOnes) {
    const auto verdict = validate_topic_configs({{"partita.expansion.mode", "careful"}}, BrokerConfig{});
    ASSERT_FALSE(verdict.has_value());
    EXPECT_EQ(verdict.error().code, ErrorCode::invalid_config);
    EXPECT_EQ(verdict.error().message,
              "Invalid value careful for configuration partita.expansion.mode: String must be one of: faithful, "
              "safe-offsets, guarded, fenced");
}

TEST(ExpansionConfig, DelaysGoDownToUntilReleased) {
    EXPECT_EQ(effective_topic_config({{"partita.visibility.consumers.delay.ms", "-1"}}, BrokerConfig{})
                  ->visibility_consumers_delay_ms,
              kUntilReleased);
    EXPECT_FALSE(validate_topic_configs({{"partita.visibility.consumers.delay.ms", "-2"}}, BrokerConfig{}));
}

TEST(ExpansionConfig, TopicIsDescribedAsByKafkaUntilAnExpansionConfigIsGiven) {
    const BrokerConfig broker;
    const auto plain = describe_topic_configs({}, broker, {});
    EXPECT_TRUE(std::ranges::none_of(plain, [](const ConfigEntry& entry) { return entry.name.starts_with("partita."); }));
    const auto given = describe_topic_configs({{"partita.expansion.mode", "fenced"}}, broker, {});
    EXPECT_EQ(given.size(), plain.size() + 1);
    EXPECT_TRUE(describes(given, "partita.expansion.mode"));
}

}  // namespace
}  // namespace partita::config
