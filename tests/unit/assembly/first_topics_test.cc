// Tests that a start makes the topics that partita.create.topics names, and what a new cluster stores of its file.

#include "broker/assembly/first_topics.h"

#include <gmock/gmock.h>

#include <string>

#include "broker/config/current_config.h"
#include "broker/handlers/services.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/catalog/catalog.h"
#include "tests/simulation/broker_world_caller.h"

namespace partita::test {
namespace {

using ::testing::HasSubstr;

const catalog::Topic* topic_of(CalledBroker& called, const std::string& name) {
    return called.broker().services().topics.table()->catalog->find_topic(name);
}

std::expected<void, runtime::StartError> again(CalledBroker& called) {
    auto& services = called.broker().services();
    return assembly::make_first_topics(*services.config.get(), services.catalog, called.now());
}

TEST(FirstTopics, AreThereWhenTheBrokerHasStarted) {
    CalledBroker called(1, {"partita.create.topics=orders:3:1, payments:1:1:compact,rest"});
    ASSERT_NE(topic_of(called, "orders"), nullptr);
    EXPECT_EQ(topic_of(called, "orders")->partition_count, 3);
    ASSERT_NE(topic_of(called, "payments"), nullptr);
    EXPECT_EQ(topic_of(called, "payments")->configs.at("cleanup.policy"), "compact");
    EXPECT_NE(topic_of(called, "rest"), nullptr);
    const TopicId id = topic_of(called, "orders")->id;
    ASSERT_TRUE(again(called).has_value());
    EXPECT_EQ(topic_of(called, "orders")->id, id) << "a topic that is there stays";
}

TEST(FirstTopics, ThatOneBrokerCannotHaveAreLeftOut) {
    CalledBroker called(1, {"partita.create.topics=wide:1:3,orders:1:1"});
    EXPECT_EQ(topic_of(called, "wide"), nullptr);
    EXPECT_NE(topic_of(called, "orders"), nullptr);
}

TEST(FirstTopics, ThatCannotBeReadAreRefused) {
    for (const std::string item : {"orders:x:1", "orders:0:1", "orders:1:1:compact:more", ":1:1"}) {
        const auto config = config::BrokerConfig::from({{"partita.create.topics", "fine:1:1," + item}});
        CalledBroker called(1, {});
        const auto made = assembly::make_first_topics(*config, called.broker().services().catalog, called.now());
        ASSERT_FALSE(made.has_value()) << item;
        EXPECT_THAT(made.error().message, HasSubstr("has the item " + item + ": it must be NAME:PARTITIONS:REPLICAS"));
        EXPECT_EQ(topic_of(called, "fine"), nullptr);
    }
}

TEST(FirstConfigs, OfANewClusterHaveTheMinimumOfInSyncReplicasOfTheFile) {
    CalledBroker called(1, {"min.insync.replicas=2"});
    const auto table = called.broker().services().topics.table();
    EXPECT_EQ(table->catalog->default_broker_configs().at("min.insync.replicas"), "2");
}

}  // namespace
}  // namespace partita::test
