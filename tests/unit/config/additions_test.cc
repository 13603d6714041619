// Tests configs of addons, in a build with them and in one without.

#include "broker/config/addition.h"

#include <gmock/gmock.h>

#include <string>

#include "broker/config/topic_config.h"

namespace partita::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(ConfigAdditions, AreFoundLikeTheBrokersOwn) {
    for (const Addition* addition : additions()) {
        for (const ConfigDefinition& definition : addition->broker) {
            const ConfigDefinition* found = find_broker_config(definition.name);
            ASSERT_NE(found, nullptr) << definition.name;
            EXPECT_EQ(found->documentation, definition.documentation);
        }
        for (const TopicConfigDefinition& topic : addition->topic) {
            ASSERT_NE(find_topic_config(topic.definition.name), nullptr) << topic.definition.name;
            for (const ConfigSynonym& synonym : topic.broker_synonyms) {
                EXPECT_NE(find_broker_config(synonym.broker_config), nullptr) << synonym.broker_config;
            }
        }
    }
}

TEST(ConfigAdditions, ThatTheBuildLeavesOutAreWarnedOfByNameAndWithoutEffect) {
    const auto loaded = load_broker_config(
        {.properties = {}, .environment = {}, .overrides = {"partita.capacity.units=1", "partita.capture.directory=/elsewhere"}});
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    if (additions().empty()) {
        EXPECT_THAT(loaded->unknown_names,
                    ElementsAre(StartsWith("partita.capacity.units"), StartsWith("partita.capture.directory")));
        EXPECT_EQ(loaded->config.topic_limits, std::nullopt);
    } else {
        EXPECT_THAT(loaded->unknown_names, IsEmpty());
    }
}

TEST(ConfigAdditions, OfTopicsThatTheBuildLeavesOutAreRefusedAndDoNotKeepATopicFromBeingRead) {
    const ConfigMap overrides{{"partita.capture.skip.empty", "true"}, {"retention.ms", "7000"}};
    EXPECT_EQ(validate_topic_configs(overrides, BrokerConfig()).has_value(), !additions().empty());
    // A broker of another build may have written them.
    const auto config = effective_topic_config(overrides, BrokerConfig());
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(config->retention_ms, 7000);
}

}  // namespace
}  // namespace partita::config
