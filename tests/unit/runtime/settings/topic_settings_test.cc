#include "broker/runtime/settings/topic_settings.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace partita::runtime {
namespace {

std::shared_ptr<const config::BrokerConfig> broker_with(const config::ConfigMap& given = {}) {
    return std::make_shared<const config::BrokerConfig>(config::BrokerConfig::from(given).value());
}

TEST(TopicSettings, TopicsWithTheSameConfigsShareThem) {
    TopicSettingsTable table;
    const auto broker = broker_with();
    const TopicSettings plain = table.of("a", {}, broker);
    const TopicSettings quick = table.of("b", {{"retention.ms", "7"}, {"segment.bytes", "2000000"}}, broker);
    EXPECT_EQ(table.of("c", {}, broker).topic, plain.topic);
    EXPECT_EQ(table.of("c", {}, broker).logs, plain.logs);
    EXPECT_EQ(quick.topic->retention_ms, 7);
    EXPECT_EQ(quick.logs->retention_ms, 7);
    EXPECT_EQ(quick.logs->segment_bytes, 2'000'000);
    EXPECT_EQ(plain.logs->retention_ms, plain.topic->retention_ms);
}

TEST(TopicSettings, AnotherBrokersSettingsAreAnotherTopics) {
    TopicSettingsTable table;
    EXPECT_EQ(table.of("a", {}, broker_with({{"log.retention.ms", "7"}})).logs->retention_ms, 7);
    EXPECT_EQ(table.of("a", {}, broker_with({{"log.retention.ms", "8"}})).logs->retention_ms, 8);
    EXPECT_EQ(table.of("a", {}, broker_with({{"producer.id.expiration.ms", "9"}})).logs->producer_id_expiration_ms, 9);
}

TEST(TopicSettings, PatternsOfTheBrokerGoByTheTopicsName) {
    TopicSettingsTable table;
    const auto broker = broker_with({{"partita.default.expansion.mode.patterns", "orders-*:guarded"}});
    EXPECT_EQ(table.of("orders-eu", {}, broker).topic->expansion_mode, config::ExpansionMode::guarded);
    EXPECT_EQ(table.of("payments", {}, broker).topic->expansion_mode, config::ExpansionMode::faithful);
}

TEST(TopicSettings, BeyondItsBoundItBeginsAnewAndSaysTheSame) {
    TopicSettingsTable table;
    const auto broker = broker_with();
    const TopicSettings first = table.of("a", {{"retention.ms", "0"}}, broker);
    for (std::size_t kind = 1; kind <= TopicSettingsTable::kKindsMax; ++kind) {
        const std::string value = std::to_string(kind);
        EXPECT_EQ(table.of("a", {{"retention.ms", value}}, broker).logs->retention_ms, static_cast<std::int64_t>(kind));
    }
    const TopicSettings again = table.of("a", {{"retention.ms", "0"}}, broker);
    EXPECT_NE(again.topic, first.topic);
    EXPECT_EQ(*again.topic, *first.topic);
}

TEST(TopicSettings, WhereTheyCannotBeReadTheDefaultsServe) {
    TopicSettingsTable table;
    const auto broker = broker_with();
    EXPECT_EQ(*table.of("a", {{"retention.ms", "soon"}}, broker).topic, config::TopicConfig());
}

}  // namespace
}  // namespace partita::runtime
