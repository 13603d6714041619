#include <gtest/gtest.h>

#include <algorithm>

#include "broker/config/broker_config.h"
#include "broker/config/describe_configs.h"
#include "broker/config/mode_patterns.h"
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
    EXPECT_EQ(
        effective_topic_config({{"partita.visibility.consumers.delay.ms", "-1"}}, BrokerConfig{})->visibility_consumers_delay_ms,
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

TEST(ExpansionConfig, PatternsOfNamesGiveTopicsTheirModes) {
    const BrokerConfig broker =
        broker_with({"partita.default.expansion.mode=safe-offsets",
                     "partita.default.expansion.mode.patterns=orders-*:fenced,*-log:faithful,pay*nts:guarded"});
    const auto mode = [&](const ConfigMap& overrides, std::string_view topic) {
        return effective_topic_config(with_mode_pattern(overrides, broker, topic), broker)->expansion_mode;
    };
    EXPECT_EQ(mode({}, "orders-eu"), ExpansionMode::fenced);
    EXPECT_EQ(mode({}, "orders-log"), ExpansionMode::fenced) << "the first pattern counts";
    EXPECT_EQ(mode({}, "audit-log"), ExpansionMode::faithful);
    EXPECT_EQ(mode({}, "payments"), ExpansionMode::guarded);
    EXPECT_EQ(mode({}, "paynt"), ExpansionMode::safe_offsets) << "a pattern is the whole name";
    EXPECT_EQ(mode({}, "orders"), ExpansionMode::safe_offsets);
    EXPECT_EQ(mode({{"partita.expansion.mode", "faithful"}}, "orders-eu"), ExpansionMode::faithful) << "its own goes first";

    EXPECT_TRUE(
        describes(describe_topic_configs(with_mode_pattern({}, broker, "orders-eu"), broker, {}), "partita.expansion.mode"));
    EXPECT_FALSE(
        describes(describe_topic_configs(with_mode_pattern({}, broker, "orders"), broker, {}), "partita.expansion.mode"));
}

TEST(ExpansionConfig, PatternsFollowADynamicChange) {
    const auto changed = BrokerConfig{}.with_dynamic(
        {.cluster_default = {{"partita.default.expansion.mode.patterns", "*:guarded"}}, .this_broker = {}});
    ASSERT_TRUE(changed.has_value());
    EXPECT_EQ(effective_topic_config(with_mode_pattern({}, *changed, "any"), *changed)->expansion_mode, ExpansionMode::guarded);
}

TEST(ExpansionConfig, APatternThatIsNoneIsRefusedInWords) {
    const auto refusal = [](const std::string& patterns) {
        const auto parsed = parse_mode_patterns(patterns);
        return parsed ? "" : parsed.error().message;
    };
    EXPECT_EQ(
        refusal("orders:careful"),
        "Invalid value orders:careful for configuration partita.default.expansion.mode.patterns: the mode must be faithful, "
        "safe-offsets, guarded or fenced");
    EXPECT_NE(refusal("orders").find("use PATTERN:MODE"), std::string::npos);
    EXPECT_NE(refusal(":fenced").find("use PATTERN:MODE"), std::string::npos);
    EXPECT_EQ(refusal(""), "");
    std::string many;
    for (std::size_t index = 0; index <= kModePatternsMax; ++index) {
        many += "t" + std::to_string(index) + ":fenced,";
    }
    EXPECT_NE(refusal(many).find("at most 100 patterns are allowed"), std::string::npos);
    const ModePatterns hard = *parse_mode_patterns("*a*a*a*a*a*a*a*a*b:fenced");
    EXPECT_FALSE(mode_of_pattern(hard, std::string(249, 'a'))) << "and that in no time";
}

TEST(UnknownSettings, AreToldWithTheOneThatWasMeant) {
    const auto loaded = load_broker_config({.properties = {}, .environment = {}, .overrides = {"num.partition=3", "my.own=1"}});
    ASSERT_TRUE(loaded.has_value());
    EXPECT_EQ(loaded->unknown_names, (std::vector<std::string>{"my.own", "num.partition (did you mean num.partitions?)"}));
}

}  // namespace
}  // namespace partita::config
