#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/catalog/catalog_fixture.h"

// Codes, texts and the order of checks are those of Apache Kafka 4.3.1
// (ReplicationControlManager.createTopics, ControllerApis.createTopics).

namespace partita::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CreateTopics, UsesTheBrokersDefaultsForMinusOne) {
    TestCatalog catalog;
    catalog.settings.num_partitions = 7;
    EXPECT_EQ(catalog.create("orders"), CatalogError{});
    const Topic* topic = catalog.catalog().find_topic("orders");
    ASSERT_NE(topic, nullptr);
    EXPECT_EQ(topic->partition_count, 7);
    EXPECT_EQ(topic->replication_factor, 1);
    EXPECT_EQ(topic->created_time, TimestampMs{1000});
    EXPECT_EQ(catalog.catalog().find_topic(topic->id), topic);
}

TEST(CreateTopics, RefusesInvalidNamesWithKafkasTexts) {
    TestCatalog catalog;
    const auto invalid = [](std::string text) {
        return error(ErrorCode::invalid_topic_exception, "Topic name is invalid: " + text);
    };
    EXPECT_EQ(catalog.create(""), invalid("the empty string is not allowed"));
    EXPECT_EQ(catalog.create("."), invalid("'.' is not allowed"));
    EXPECT_EQ(catalog.create(".."), invalid("'..' is not allowed"));
    EXPECT_EQ(catalog.create("a b"), invalid("'a b' contains one or more characters other than ASCII alphanumerics, "
                                             "'.', '_' and '-'"));
    const std::string longest(249, 'x');
    EXPECT_EQ(catalog.create(longest), CatalogError{});
    EXPECT_EQ(catalog.create(longest + "x"),
              invalid("the length of '" + longest + "x' is longer than the max allowed length 249"));
}

TEST(CreateTopics, CountsTheLengthOfANameAsJavaDoes) {
    // 249 characters of two bytes each are not too long, only illegal.
    std::string name;
    for (int index = 0; index < 249; ++index) {
        name += "\xc3\xa9";
    }
    EXPECT_THAT(topic_name_problem(name).value_or(""), ::testing::HasSubstr("contains one or more characters"));
    EXPECT_THAT(topic_name_problem(name + "\xc3\xa9").value_or(""), ::testing::HasSubstr("longer than the max allowed"));
}

TEST(CreateTopics, RefusesANameThatExistsOrCollides) {
    TestCatalog catalog;
    ASSERT_EQ(catalog.create("sms.events"), CatalogError{});
    EXPECT_EQ(catalog.create("sms.events"), error(ErrorCode::topic_already_exists, "Topic 'sms.events' already exists."));
    EXPECT_EQ(catalog.create("sms_events"),
              error(ErrorCode::invalid_topic_exception, "Topic 'sms_events' collides with existing topic: sms.events"));
    EXPECT_EQ(catalog.create("sms-events"), CatalogError{});
}

TEST(CreateTopics, RefusesBadCountsInKafkasOrder) {
    TestCatalog catalog;
    const auto partitions =
        error(ErrorCode::invalid_partitions, "Number of partitions was set to an invalid non-positive value.");
    const auto replicas =
        error(ErrorCode::invalid_replication_factor, "Replication factor must be larger than 0, or -1 to use the default value.");
    EXPECT_EQ(catalog.create("t", 0), partitions);
    EXPECT_EQ(catalog.create("t", -2), partitions);
    EXPECT_EQ(catalog.create("t", 1, 0), replicas);
    EXPECT_EQ(catalog.create("t", 0, -5), replicas);
    EXPECT_EQ(catalog.create("t", 1, 3),
              error(ErrorCode::invalid_replication_factor,
                    "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be reached "
                    "because only 1 broker(s) are registered or some brokers have all their log directories cordoned."));
    EXPECT_EQ(catalog.catalog().topic_count(), 0u);
}

TEST(CreateTopics, AnswersDuplicateNamesOnceAndCreatesTheOthers) {
    TestCatalog catalog;
    CreateTopics command;
    for (const char* name : {"twice", "once", "twice", "twice", "__cluster_metadata", "__partita_catalog"}) {
        command.topics.push_back({name});
    }
    const auto reply = catalog.carry_out(command);
    ASSERT_EQ(reply.topics.size(), 4u);
    EXPECT_EQ(reply.topics[0].name, "once");
    EXPECT_EQ(reply.topics[0].error, CatalogError{});
    EXPECT_EQ(reply.topics[1].name, "twice");
    EXPECT_EQ(reply.topics[1].error, error(ErrorCode::invalid_request, "Duplicate topic name."));
    EXPECT_EQ(reply.topics[2].error,
              error(ErrorCode::invalid_request, "Creation of internal topic __cluster_metadata is prohibited."));
    EXPECT_EQ(reply.topics[3].error,
              error(ErrorCode::invalid_request, "Creation of internal topic __partita_catalog is prohibited."));
    EXPECT_EQ(catalog.catalog().topic_count(), 1u);
}

TEST(CreateTopics, ChecksConfigsBeforeCounts) {
    TestCatalog catalog;
    EXPECT_EQ(catalog.create("t", 0, -1, {{"nonsense", "1"}}),
              error(ErrorCode::invalid_config, "Unknown topic config name: nonsense"));
    EXPECT_EQ(catalog.create("t", 0, -1, {{"retention.ms", std::nullopt}, {"segment.bytes", std::nullopt}}),
              error(ErrorCode::invalid_config, "Null value not supported for topic configs: retention.ms,segment.bytes"));
    const std::string long_value(32768, '1');
    EXPECT_EQ(catalog.create("t", 1, -1, {{"retention.ms", long_value}}),
              error(ErrorCode::invalid_config,
                    "The configuration value cannot be added because it exceeds the maximum "
                    "value size of 32767 bytes."));
    const std::string longest_value(32767, '1');
    EXPECT_EQ(catalog.create("t", 1, -1, {{"retention.ms", longest_value}}), CatalogError{});
    catalog.restart();
    EXPECT_EQ(catalog.catalog().find_topic("t")->configs.at("retention.ms"), longest_value);
}

TEST(CreateTopics, ManualAssignmentsFollowKafkasRules) {
    TestCatalog catalog;
    const auto create = [&](std::vector<ManualAssignment> assignments, std::int32_t partitions = -1, std::int16_t replicas = -1) {
        CreateTopics command;
        command.topics.push_back({"t", partitions, replicas, std::move(assignments), {}});
        return catalog.carry_out(command).topics.at(0).error;
    };
    const auto bad = [](std::string text) { return error(ErrorCode::invalid_replica_assignment, std::move(text)); };
    const BrokerId self{1};
    EXPECT_EQ(
        create({{PartitionIndex{0}, {self}}}, 1),
        error(ErrorCode::invalid_request, "A manual partition assignment was specified, but numPartitions was not set to -1."));
    EXPECT_EQ(create({{PartitionIndex{0}, {self}}}, 1, 1),
              error(ErrorCode::invalid_request,
                    "A manual partition assignment was specified, but replication factor was not set to -1."));
    EXPECT_EQ(create({{PartitionIndex{0}, {self}}, {PartitionIndex{0}, {self}}}),
              bad("Found multiple manual partition assignments for partition 0"));
    EXPECT_EQ(create({{PartitionIndex{1}, {self}}}), bad("partitions should be a consecutive 0-based integer sequence"));
    EXPECT_EQ(create({{PartitionIndex{0}, {}}}), bad("The manual partition assignment includes an empty replica list."));
    EXPECT_EQ(create({{PartitionIndex{0}, {self, BrokerId{2}}}}),
              bad("The manual partition assignment includes broker 2, but no such broker is registered."));
    EXPECT_EQ(create({{PartitionIndex{0}, {self, self}}}),
              bad("The manual partition assignment includes the broker 1 more than once."));
    catalog.settings.brokers = std::vector{self, BrokerId{2}};
    EXPECT_EQ(create({{PartitionIndex{0}, {self}}, {PartitionIndex{1}, {self, BrokerId{2}}}}),
              bad("The manual partition assignment includes a partition with 2 replica(s), but this is not consistent "
                  "with previous partitions, which have 1 replica(s)."));
    EXPECT_EQ(create({{PartitionIndex{1}, {self}}, {PartitionIndex{0}, {self}}}), CatalogError{});
    EXPECT_EQ(catalog.catalog().find_topic("t")->partition_count, 2);
}

TEST(CreateTopics, ValidateOnlyChangesNothing) {
    TestCatalog catalog;
    CreateTopics command;
    command.topics.push_back({"t", 3});
    command.validate_only = true;
    const auto decision = catalog.decide(command);
    EXPECT_EQ(decision.result.topics.at(0).error, CatalogError{});
    EXPECT_EQ(decision.result.topics.at(0).num_partitions, 3);
    EXPECT_TRUE(decision.effects.empty());
    EXPECT_THAT(decision.effects.records, IsEmpty());
}

/// Measured on 4.3.1: a topic record, one per config, one per partition; 10,000 together.
TEST(CreateTopics, RequestOfTenThousandRecordsIsTheLargest) {
    TestCatalog catalog;
    EXPECT_EQ(catalog.create("a", 9999), CatalogError{});
    EXPECT_EQ(catalog.create("b", 9998, -1, {{"retention.ms", "1"}}), CatalogError{});
    const auto excessive = error(ErrorCode::policy_violation, "Unable to perform excessively large batch operation.");
    EXPECT_EQ(catalog.create("c", 10000), excessive);
    EXPECT_EQ(catalog.create("c", 9999, -1, {{"retention.ms", "1"}}), excessive);
    EXPECT_EQ(catalog.create("c", 10001),
              error(ErrorCode::policy_violation, "Excessively large number of partitions per request."));
    EXPECT_EQ(catalog.catalog().topic_count(), 2u);
}

TEST(CreateTopics, ExcessiveRequestFailsAsAWhole) {
    TestCatalog catalog;
    CreateTopics command;
    for (const char* name : {"a", "b", "b"}) {
        command.topics.push_back({name, 4999});
    }
    command.topics.push_back({"c", 5000});
    const auto reply = catalog.carry_out(command);
    ASSERT_EQ(reply.topics.size(), 4u);
    for (const CreatedTopic& topic : reply.topics) {
        EXPECT_EQ(topic.error, error(ErrorCode::policy_violation, "Unable to perform excessively large batch operation."));
    }
    EXPECT_EQ(catalog.catalog().topic_count(), 0u);
}

TEST(CreateTopics, TopicOfAnySizeIsOneRecord) {
    TestCatalog catalog;
    ASSERT_EQ(catalog.create("wide", 9999), CatalogError{});
    // The topic, and the catalog's state.
    EXPECT_EQ(catalog.last_effects.records.size(), 2u);
    EXPECT_LT(catalog.last_effects.records[0].value->size(), 64u);
    EXPECT_EQ(catalog.catalog().partition_count(), 9999);
}

TEST(CreateTopics, IdsThatAreReservedOrInUseAreNotTaken) {
    TestCatalog catalog;
    TopicId reserved;
    reserved.bytes[15] = 1;
    TopicId option = TestTopicIds(500)();
    option.bytes[0] = 0xf8;
    const TopicId first = TestTopicIds(600)();
    const TopicId second = TestTopicIds(601)();
    std::vector<TopicId> supply{TopicId{}, reserved, option, first, first, second};
    auto context = catalog.context();
    std::size_t next = 0;
    context.next_topic_id = [&] { return supply.at(next++); };
    CreateTopics command;
    command.topics = {{"a"}, {"b"}};
    const auto reply = catalog.carry_out(catalog.core().decide(command, context));
    EXPECT_EQ(reply.topics[0].id, first);
    EXPECT_EQ(reply.topics[1].id, second);
    EXPECT_EQ(option.to_string().front(), '-');
}

TEST(AutoCreateTopic, GivesInternalTopicsTheirConfigs) {
    TestCatalog catalog;
    catalog.settings.default_replication_factor = 3;
    const auto reply = catalog.carry_out(AutoCreateTopic{"__consumer_offsets"});
    EXPECT_EQ(reply.error, CatalogError{});
    const Topic* topic = catalog.catalog().find_topic("__consumer_offsets");
    ASSERT_NE(topic, nullptr);
    EXPECT_TRUE(topic->internal);
    EXPECT_EQ(topic->partition_count, 50);
    EXPECT_EQ(topic->replication_factor, 1);
    EXPECT_THAT(topic->configs, ElementsAre(std::pair("cleanup.policy", "compact"), std::pair("compression.type", "producer"),
                                            std::pair("segment.bytes", "104857600")));
    EXPECT_EQ(catalog.carry_out(AutoCreateTopic{"__transaction_state"}).error, CatalogError{});
}

TEST(AutoCreateTopic, AnswersAnExistingTopicWithoutAChange) {
    TestCatalog catalog;
    catalog.create("t", 4);
    const auto decision = catalog.decide(AutoCreateTopic{"t"});
    EXPECT_TRUE(decision.effects.empty());
    EXPECT_EQ(decision.result.num_partitions, 4);
    EXPECT_EQ(decision.result.id, catalog.catalog().find_topic("t")->id);
}

TEST(AutoCreateTopic, RefusesWhatCreateTopicsRefuses) {
    TestCatalog catalog;
    EXPECT_EQ(catalog.decide(AutoCreateTopic{"a b"}).result.error.code, ErrorCode::invalid_topic_exception);
    catalog.settings.default_replication_factor = 3;
    EXPECT_EQ(catalog.decide(AutoCreateTopic{"user"}).result.error.code, ErrorCode::invalid_replication_factor);
}

TEST(CreateTopics, InCordonedDirectoriesArePlacedByNobodyButTheRequestItself) {
    TestCatalog catalog;
    ASSERT_EQ(catalog.create("before"), CatalogError{});
    catalog.settings.takes_new_partitions = false;
    const std::string all_cordoned = "All brokers are currently fenced, or have all their log directories cordoned.";
    EXPECT_EQ(catalog.create("after"),
              error(ErrorCode::invalid_replication_factor, "Unable to replicate the partition 1 time(s): " + all_cordoned));
    EXPECT_EQ(catalog.expand("before", 2), error(ErrorCode::invalid_replication_factor, all_cordoned));
    CreateTopics command;
    command.topics.push_back({.name = "assigned", .assignments = {{PartitionIndex{0}, {BrokerId{1}}}}});
    EXPECT_EQ(catalog.carry_out(command).topics.at(0).error, CatalogError{});
    // Groups would have no coordinator.
    EXPECT_EQ(catalog.carry_out(AutoCreateTopic{"__consumer_offsets"}).error, CatalogError{});
}

TEST(CreateTopics, TellsTheClusterWhichBrokersTheClientChose) {
    TestCatalog catalog;
    catalog.settings.brokers = std::vector{BrokerId{1}, BrokerId{2}};
    CreateTopics command;
    command.topics.push_back({.name = "t",
                              .assignments = {{.partition = PartitionIndex{1}, .brokers = {BrokerId{1}}},
                                              {.partition = PartitionIndex{0}, .brokers = {BrokerId{2}}}}});
    EXPECT_EQ(catalog.carry_out(command).topics.at(0).error, CatalogError{});
    ASSERT_EQ(catalog.last_effects.changes.size(), 1U);
    EXPECT_EQ(catalog.last_effects.changes[0].assignments, (std::vector<std::vector<BrokerId>>{{BrokerId{2}}, {BrokerId{1}}}));
    EXPECT_EQ(catalog.create("left-to-the-cluster", 2, 2), CatalogError{});
    EXPECT_TRUE(catalog.last_effects.changes.at(0).assignments.empty());

    CreatePartitions growth;
    growth.topics.push_back({"t", 3, std::vector<std::vector<BrokerId>>{{BrokerId{2}}}});
    EXPECT_EQ(catalog.carry_out(growth).topics.at(0).error, CatalogError{});
    EXPECT_EQ(catalog.last_effects.changes.at(0).assignments, (std::vector<std::vector<BrokerId>>{{BrokerId{2}}}));
}

TEST(CreateTopics, RefusesAnAssignmentToDeadBrokersOnly) {
    TestCatalog catalog;
    catalog.settings.brokers = std::vector{BrokerId{1}, BrokerId{2}};
    catalog.settings.fenced_brokers = {BrokerId{2}};
    const auto create = [&](std::vector<BrokerId> brokers) {
        CreateTopics command;
        command.topics.push_back({.name = "t", .assignments = {{.partition = PartitionIndex{0}, .brokers = std::move(brokers)}}});
        return catalog.carry_out(command).topics.at(0).error;
    };
    EXPECT_EQ(
        create({BrokerId{2}}),
        (CatalogError{ErrorCode::invalid_replica_assignment,
                      "All brokers specified in the manual partition assignment for partition 0 are fenced or in controlled "
                      "shutdown."}));
    EXPECT_EQ(create({BrokerId{1}}), CatalogError{});
    CreatePartitions growth;
    growth.topics.push_back({"t", 2, std::vector<std::vector<BrokerId>>{{BrokerId{2}}}});
    EXPECT_EQ(
        catalog.carry_out(growth).topics.at(0).error,
        (CatalogError{ErrorCode::invalid_replica_assignment,
                      "All brokers specified in the manual partition assignment for partition 1 are fenced or in controlled "
                      "shutdown."}));
}

TEST(AutoCreateTopic, GivesInternalTopicsAsManyReplicasAsThereAreBrokers) {
    TestCatalog catalog;
    catalog.settings.offsets_topic_replication_factor = 3;
    for (const int count : {1, 2, 4}) {
        catalog.settings.brokers = std::vector<BrokerId>();
        for (std::int32_t id = 1; id <= count; ++id) {
            catalog.settings.brokers.value.push_back(BrokerId{id});
        }
        const auto decided = catalog.decide(AutoCreateTopic{.name = "__consumer_offsets"});
        EXPECT_EQ(decided.result.replication_factor, std::min(count, 3));
    }
}

}  // namespace
}  // namespace partita::catalog
