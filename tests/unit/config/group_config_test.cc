#include "broker/config/group_config.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace partita::config {
namespace {

BrokerConfig broker(ConfigMap given = {}) { return BrokerConfig::from(std::move(given)).value(); }

std::string refusal_text(ConfigMap overrides) {
    const auto judged = validate_group_configs(overrides, broker());
    return judged ? "" : judged.error().message;
}

ConfigEntry described(const ConfigMap& overrides, const BrokerConfig& with, std::string name) {
    const auto entries = describe_group_configs(overrides, with, {.names = {{name}}, .include_synonyms = true});
    return entries.empty() ? ConfigEntry{} : entries.front();
}

TEST(GroupConfig, DefinitionsAreSortedAndTheirBrokerConfigsExist) {
    const auto name_of = [](const GroupConfigDefinition& group) { return group.definition.name; };
    EXPECT_TRUE(std::ranges::is_sorted(group_config_definitions(), {}, name_of));
    EXPECT_EQ(group_config_definitions().size(), 17u);
    for (const GroupConfigDefinition& group : group_config_definitions()) {
        for (const std::string_view other : {group.broker_config, group.minimum_config, group.maximum_config}) {
            EXPECT_TRUE(other.empty() || find_broker_config(other) != nullptr) << other;
        }
    }
}

TEST(GroupConfig, DefaultsLieWithinTheBrokersBounds) {
    for (const GroupConfigDefinition& group : group_config_definitions()) {
        const std::string name(group.definition.name);
        EXPECT_EQ(refusal_text({{name, std::string(*group.definition.default_value)}}), "") << name;
        EXPECT_EQ(config_value_text(group_config_value({}, broker(), name)), group.definition.default_value) << name;
    }
}

TEST(GroupConfig, ValuesAreRefusedWithKafkasTexts) {
    EXPECT_EQ(refusal_text({{"foo", "1"}}), "Unknown group config name: foo");
    EXPECT_EQ(refusal_text({{"consumer.session.timeout.ms", "1"}}),
              "consumer.session.timeout.ms must be greater than or equal to group.consumer.min.session.timeout.ms");
    EXPECT_EQ(refusal_text({{"consumer.session.timeout.ms", "60001"}}),
              "consumer.session.timeout.ms must be less than or equal to group.consumer.max.session.timeout.ms");
    EXPECT_EQ(refusal_text({{"consumer.heartbeat.interval.ms", "x"}}),
              "Invalid value x for configuration consumer.heartbeat.interval.ms: Not a number of type INT");
    EXPECT_EQ(refusal_text({{"share.record.lock.duration.ms", "1"}}),
              "Invalid value 1 for configuration share.record.lock.duration.ms: Value must be at least 1000");
    EXPECT_EQ(refusal_text({{"streams.num.standby.replicas", "3"}}),
              "streams.num.standby.replicas must be less than or equal to group.streams.max.standby.replicas");
    EXPECT_EQ(refusal_text({{"share.isolation.level", "foo"}}),
              "Invalid value foo for configuration share.isolation.level: String must be one of: read_committed, "
              "read_uncommitted");
    EXPECT_EQ(refusal_text({{"share.auto.offset.reset", "foo"}}),
              "Invalid value foo for configuration share.auto.offset.reset: Invalid value `foo` for configuration "
              "share.auto.offset.reset. The value must be either 'earliest', 'latest' or of the format "
              "'by_duration:<PnDTnHnMn.nS>'.");
}

TEST(GroupConfig, SessionTimeoutExceedsTheHeartbeatInterval) {
    for (const std::string kind : {"consumer", "share", "streams"}) {
        // With the usual bounds no interval reaches a timeout, so these are moved until they meet.
        const BrokerConfig wide =
            broker({{"group." + kind + ".min.session.timeout.ms", "1"}, {"group." + kind + ".min.heartbeat.interval.ms", "1"}});
        const std::string timeout = kind + ".session.timeout.ms";
        const std::string interval = kind + ".heartbeat.interval.ms";
        const std::string text = timeout + " must be greater than " + interval;
        const auto judge = [&](ConfigMap overrides) {
            const auto judged = validate_group_configs(overrides, wide);
            return judged ? "" : judged.error().message;
        };
        EXPECT_EQ(judge({{timeout, "5000"}}), text) << "against the broker's interval";
        EXPECT_EQ(judge({{timeout, "5001"}}), "");
        EXPECT_EQ(judge({{timeout, "100"}, {interval, "100"}}), text);
        EXPECT_EQ(judge({{timeout, "101"}, {interval, "100"}}), "");
    }
}

TEST(GroupConfig, OffsetResetTakesADuration) {
    for (const std::string text : {"by_duration:PT5S", "by_duration:P1DT2H3M4.5S", "BY_DURATION:pt1h", "earliest"}) {
        EXPECT_EQ(refusal_text({{"share.auto.offset.reset", text}}), "") << text;
    }
    for (const std::string text : {"by_duration:", "by_duration:P", "by_duration:PT", "by_duration:P1H", "by_duration:PT1S1M",
                                   "by_duration:PT1.5H", "by_duration:5"}) {
        EXPECT_NE(refusal_text({{"share.auto.offset.reset", text}}), "") << text;
    }
}

TEST(GroupConfig, OwnValueComesBeforeTheBrokers) {
    const BrokerConfig static_broker = broker({{"group.consumer.session.timeout.ms", "50000"}});
    const std::string name = "consumer.session.timeout.ms";
    EXPECT_EQ(std::get<std::int32_t>(group_config_value({}, static_broker, name)), 50000);
    EXPECT_EQ(std::get<std::int32_t>(group_config_value({{name, "55000"}}, static_broker, name)), 55000);

    const ConfigEntry entry = described({{name, "55000"}}, static_broker, name);
    EXPECT_EQ(entry.value, "55000");
    EXPECT_EQ(entry.source, ConfigSource::group_config);
    ASSERT_EQ(entry.synonyms.size(), 3u);
    EXPECT_EQ(entry.synonyms[0], (SynonymEntry{name, "55000", ConfigSource::group_config}));
    EXPECT_EQ(entry.synonyms[1],
              (SynonymEntry{"group.consumer.session.timeout.ms", "50000", ConfigSource::static_broker_config}));
    EXPECT_EQ(entry.synonyms[2], (SynonymEntry{"group.consumer.session.timeout.ms", "45000", ConfigSource::default_config}));
}

TEST(GroupConfig, OldValueBeyondNewBoundsIsBroughtWithinThem) {
    const BrokerConfig narrow = broker({{"group.consumer.max.session.timeout.ms", "46000"}});
    const std::string name = "consumer.session.timeout.ms";
    EXPECT_EQ(std::get<std::int32_t>(group_config_value({{name, "60000"}}, narrow, name)), 46000);
}

}  // namespace
}  // namespace partita::config
