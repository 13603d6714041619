#include "broker/catalog/catalog_limits.h"

#include <gtest/gtest.h>

#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::catalog {
namespace {

CatalogLimits limits() {
    return {.of = std::string("the tier"),
            .topics = 2,
            .partitions_of_topic = 8,
            .partitions = std::int64_t{12},
            .retention_ms = std::int64_t{1000},
            .adds_partitions = true};
}

struct LimitedCatalog : TestCatalog {
    LimitedCatalog() { settings.limits = std::optional(limits()); }

    std::vector<CatalogError> create_all(std::vector<TopicToCreate> topics, bool validate_only = false) {
        const auto reply = carry_out(CreateTopics{.topics = std::move(topics), .validate_only = validate_only});
        std::vector<CatalogError> errors;
        for (const CreatedTopic& topic : reply.topics) {
            errors.push_back(topic.error);
        }
        return errors;
    }
};

TEST(CatalogLimits, ATopicHasNoMorePartitionsThanAllowed) {
    LimitedCatalog catalog;
    EXPECT_EQ(catalog.create("a", 9), error(ErrorCode::invalid_partitions, "the tier has at most 8 partitions in a topic"));
    EXPECT_FALSE(catalog.create("a", 8).failed());
}

TEST(CatalogLimits, ThereAreNoMoreTopicsThanAllowedAndWhatWasRefusedDoesNotCount) {
    LimitedCatalog catalog;
    EXPECT_TRUE(catalog.create("wide", 9).failed());
    EXPECT_FALSE(catalog.create("a", 1).failed());
    const auto errors = catalog.create_all({{.name = "b", .num_partitions = 1, .replication_factor = 1},
                                            {.name = "c", .num_partitions = 1, .replication_factor = 1}});
    EXPECT_FALSE(errors[0].failed());
    EXPECT_EQ(errors[1], error(ErrorCode::policy_violation, "the tier has at most 2 topics"));
}

TEST(CatalogLimits, AllPartitionsTogetherAreCounted) {
    LimitedCatalog catalog;
    EXPECT_FALSE(catalog.create("a", 8).failed());
    EXPECT_EQ(catalog.create("b", 5),
              error(ErrorCode::policy_violation, "the tier has at most 12 partitions in all topics together"));
    EXPECT_FALSE(catalog.create("b", 4).failed());
}

TEST(CatalogLimits, WhatIsOnlyValidatedIsRefusedToo) {
    LimitedCatalog catalog;
    EXPECT_TRUE(catalog.create_all({{.name = "a", .num_partitions = 9, .replication_factor = 1}}, true).front().failed());
}

TEST(CatalogLimits, NothingIsKeptForLongerThanAllowed) {
    LimitedCatalog catalog;
    for (const char* too_long : {"1001", "-1"}) {
        EXPECT_EQ(catalog.create("a", 1, 1, {{.name = "retention.ms", .value = too_long}}),
                  error(ErrorCode::invalid_config, "the tier keeps records for at most 1000 ms (retention.ms)"));
    }
    EXPECT_FALSE(catalog.create("a", 1, 1, {{.name = "retention.ms", .value = "1000"}}).failed());
}

TEST(CatalogLimits, NoTopicIsChangedToKeepItsRecordsForLonger) {
    LimitedCatalog catalog;
    EXPECT_FALSE(catalog.create("a", 1).failed());
    const auto alter = [&](std::vector<ConfigChange> changes) {
        IncrementalAlterConfigs command;
        ResourceToAlter& resource = command.resources.emplace_back();
        resource.resource = {ConfigResourceType::topic, "a"};
        resource.changes = std::move(changes);
        return catalog.carry_out(command).resources.front().error;
    };
    const auto set = [](std::string_view name, std::string_view value) {
        return ConfigChange{.name = name, .operation = static_cast<std::int8_t>(AlterOperation::set), .value = value};
    };
    EXPECT_EQ(alter({set("retention.ms", "1001")}),
              error(ErrorCode::invalid_config, "the tier keeps records for at most 1000 ms (retention.ms)"));
    EXPECT_FALSE(alter({set("retention.ms", "1000")}).failed());
    // The topic was made before such limits existed.
    catalog.settings.limits = std::optional<CatalogLimits>();
    EXPECT_FALSE(alter({set("retention.ms", "5000")}).failed());
    catalog.settings.limits = std::optional(limits());
    EXPECT_FALSE(alter({set("cleanup.policy", "compact")}).failed());
    EXPECT_TRUE(alter({set("retention.ms", "4000")}).failed());
}

TEST(CatalogLimits, TopicsOfTheBrokerItselfAreFree) {
    LimitedCatalog catalog;
    (void)catalog.carry_out(AutoCreateTopic{"__consumer_offsets"});
    EXPECT_GT(catalog.catalog().find_topic("__consumer_offsets")->partition_count, 12);
    EXPECT_FALSE(catalog.create("a", 1).failed());
    EXPECT_FALSE(catalog.create("b", 1).failed());
}

TEST(CatalogLimits, ATopicGrowsAsFarAsAllowed) {
    LimitedCatalog catalog;
    ASSERT_FALSE(catalog.create("a", 4).failed());
    ASSERT_FALSE(catalog.create("b", 4).failed());
    EXPECT_EQ(catalog.expand("a", 9), error(ErrorCode::invalid_partitions, "the tier has at most 8 partitions in a topic"));
    EXPECT_FALSE(catalog.expand("a", 8).failed());
    EXPECT_EQ(catalog.expand("b", 5),
              error(ErrorCode::policy_violation, "the tier has at most 12 partitions in all topics together"));
}

TEST(CatalogLimits, NoTopicGrowsWhereNoneMay) {
    LimitedCatalog catalog;
    ASSERT_FALSE(catalog.create("a", 1).failed());
    CatalogLimits without = limits();
    without.adds_partitions = false;
    catalog.settings.limits = std::optional(without);
    EXPECT_EQ(catalog.expand("a", 2), error(ErrorCode::policy_violation, "the tier does not add partitions to a topic"));
    // Kafka's rules come first.
    EXPECT_EQ(catalog.expand("a", 1).code, ErrorCode::invalid_partitions);
    EXPECT_EQ(catalog.expand("none", 2).code, ErrorCode::unknown_topic_or_partition);
}

}  // namespace
}  // namespace partita::catalog
