#include "broker/catalog/internal_topics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/declared_settings.h"
#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// The truth: the topics that a Kafka 4.3.1 of one node makes, by `kafka-topics --describe`.
TEST(InternalTopics, AreMadeWithKafkasConfigsAndTheBrokersNumbers) {
    CatalogSettings settings = declared_catalog_settings();
    settings.offsets_topic_segment_bytes = 1;
    settings.transaction_state_log_segment_bytes = 2;
    settings.transaction_state_log_min_isr = 3;
    settings.share_coordinator_state_topic_segment_bytes = 4;
    settings.share_coordinator_state_topic_min_isr = 5;
    EXPECT_THAT(configs_when_made(*find_internal_topic("__consumer_offsets"), settings),
                ElementsAre(Pair("cleanup.policy", "compact"), Pair("compression.type", "producer"), Pair("segment.bytes", "1")));
    EXPECT_THAT(
        configs_when_made(*find_internal_topic("__transaction_state"), settings),
        ElementsAre(Pair("cleanup.policy", "compact"), Pair("compression.type", "uncompressed"), Pair("min.insync.replicas", "3"),
                    Pair("segment.bytes", "2"), Pair("unclean.leader.election.enable", "false")));
    EXPECT_THAT(configs_when_made(*find_internal_topic("__share_group_state"), settings),
                ElementsAre(Pair("cleanup.policy", "delete"), Pair("compression.type", "producer"),
                            Pair("min.insync.replicas", "5"), Pair("retention.ms", "-1"), Pair("segment.bytes", "4")));
    // No Kafka has it.
    EXPECT_THAT(configs_when_made(*find_internal_topic("__partita_claims"), settings),
                ElementsAre(Pair("cleanup.policy", "compact"), Pair("compression.type", "producer"), Pair("segment.bytes", "1")));
}

TEST(InternalTopics, AreMadeOnFirstUseWithAsManyPartitionsAsTheBrokerSays) {
    TestCatalog catalog;
    catalog.settings.offsets_topic_num_partitions = 2;
    catalog.settings.transaction_state_log_num_partitions = 3;
    catalog.settings.share_coordinator_state_topic_num_partitions = 4;
    std::int32_t expected = 2;
    for (const char* name : {"__consumer_offsets", "__transaction_state", "__share_group_state"}) {
        EXPECT_EQ(catalog.carry_out(AutoCreateTopic{name}).error, CatalogError{});
        const Topic* topic = catalog.catalog().find_topic(name);
        ASSERT_NE(topic, nullptr) << name;
        EXPECT_TRUE(topic->internal);
        EXPECT_EQ(topic->partition_count, expected++) << name;
    }
    EXPECT_EQ(catalog.carry_out(AutoCreateTopic{"__partita_claims"}).error, CatalogError{});
    EXPECT_EQ(catalog.catalog().find_topic("__partita_claims")->partition_count, 1);
}

TEST(InternalTopics, OfCoordinatorsAreFoundByTheirKind) {
    EXPECT_EQ(topic_of(CoordinatorKind::groups).name, "__consumer_offsets");
    EXPECT_TRUE(holds_coordinators("__consumer_offsets"));
    EXPECT_EQ(topic_of(CoordinatorKind::transactions).name, "__transaction_state");
    EXPECT_TRUE(holds_coordinators("__transaction_state"));
    EXPECT_EQ(topic_of(CoordinatorKind::claims).name, "__partita_claims");
    EXPECT_TRUE(holds_coordinators("__partita_claims"));
    EXPECT_EQ(topic_of(CoordinatorKind::share).name, "__share_group_state");
    EXPECT_TRUE(holds_coordinators("__share_group_state"));
    EXPECT_FALSE(holds_coordinators("orders"));
}

TEST(InternalTopics, OfKafkaTakeRecordsOfAdministratorsAndThatOfClaimsTakesNobodys) {
    for (const char* name : {"__consumer_offsets", "__transaction_state", "__share_group_state"}) {
        EXPECT_TRUE(takes_records_of_administrators(name)) << name;
    }
    EXPECT_FALSE(takes_records_of_administrators("__partita_claims"));
    EXPECT_FALSE(takes_records_of_administrators("orders"));
}

TEST(InternalTopics, AreNoOthers) {
    for (const char* name :
         {"", "orders", "__consumer_offsets2", "__CONSUMER_OFFSETS", "__cluster_metadata", "__partita_expansions"}) {
        EXPECT_FALSE(is_internal_topic(name)) << name;
        EXPECT_FALSE(holds_coordinators(name)) << name;
    }
}

}  // namespace
}  // namespace partita::catalog
