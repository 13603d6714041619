#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "broker/catalog/catalog_records.h"
#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// CreatePartitions ----------------------------------------------------------------------------------

TEST(CreatePartitions, GrowsATopicAndRecordsTheEpoch) {
    TestCatalog catalog;
    catalog.create("orders", 3);
    catalog.ends["orders"] = {Offset{10}, Offset{0}, Offset{0}};
    catalog.time_ms = 5000;
    EXPECT_EQ(catalog.expand("orders", 6), CatalogError{});
    const Topic* topic = catalog.catalog().find_topic("orders");
    EXPECT_EQ(topic->partition_count, 6);
    ASSERT_EQ(topic->expansions.size(), 1u);
    const ExpansionEpoch& expansion = *topic->expansions[0];
    EXPECT_EQ(expansion.epoch, 1);
    EXPECT_EQ(expansion.old_partition_count, 3);
    EXPECT_EQ(expansion.new_partition_count, 6);
    EXPECT_EQ(expansion.time, TimestampMs{5000});
    EXPECT_EQ(expansion.catalog_sequence, catalog.catalog().sequence());
    EXPECT_THAT(expansion.log_end_offsets, ElementsAre(Offset{10}));
    EXPECT_EQ(expansion.log_end_offset(PartitionIndex{0}), Offset{10});
    EXPECT_EQ(expansion.log_end_offset(PartitionIndex{2}), Offset{0});
}

TEST(CreatePartitions, RecordsOfAnExpansionAreOneGroup) {
    TestCatalog catalog;
    catalog.create("orders", 3);
    catalog.expand("orders", 6);
    std::vector<std::size_t> types;
    for (const Record& record : catalog.last_effects.records) {
        types.push_back(decode_key(as_bytes(record.key))->index());
    }
    EXPECT_THAT(types,
                ElementsAre(CatalogKey(TopicKey{}).index(), CatalogKey(ExpansionKey{}).index(), CatalogKey(StateKey{}).index()));
    ASSERT_EQ(catalog.last_effects.changes.size(), 1u);
    EXPECT_EQ(catalog.last_effects.changes[0].before->partition_count, 3);
    EXPECT_EQ(catalog.last_effects.changes[0].after->partition_count, 6);
}

TEST(CreatePartitions, JudgesInKafkasOrderWithKafkasTexts) {
    TestCatalog catalog;
    catalog.create("t", 3);
    EXPECT_EQ(catalog.expand("nobody", 3), (CatalogError{ErrorCode::unknown_topic_or_partition, std::nullopt}));
    EXPECT_EQ(catalog.expand("t", 3), error(ErrorCode::invalid_partitions, "Topic already has 3 partition(s)."));
    for (const std::int32_t count : {2, 0, -22}) {
        EXPECT_EQ(catalog.expand("t", count),
                  error(ErrorCode::invalid_partitions,
                        "The topic t currently has 3 partition(s); " + std::to_string(count) + " would not be an increase."));
    }
    const auto expand = [&](std::int32_t count, std::vector<std::vector<BrokerId>> assignments) {
        CreatePartitions command;
        command.topics.push_back({"t", count, std::move(assignments)});
        return catalog.carry_out(command).topics.at(0).error;
    };
    const auto bad = [](std::string text) { return error(ErrorCode::invalid_replica_assignment, std::move(text)); };
    EXPECT_EQ(expand(3, {{BrokerId{9}}}), error(ErrorCode::invalid_partitions, "Topic already has 3 partition(s)."));
    EXPECT_EQ(expand(6, {{BrokerId{9}}}),
              bad("Attempted to add 3 additional partition(s), but only 1 assignment(s) were specified."));
    EXPECT_EQ(expand(4, {{}}), bad("The manual partition assignment includes an empty replica list."));
    EXPECT_EQ(expand(4, {{BrokerId{9}}}),
              bad("The manual partition assignment includes broker 9, but no such broker is registered."));
    EXPECT_EQ(expand(4, {{BrokerId{1}, BrokerId{1}}}),
              bad("The manual partition assignment includes the broker 1 more than once."));
    catalog.settings.brokers = std::vector{BrokerId{1}, BrokerId{2}};
    EXPECT_EQ(expand(4, {{BrokerId{1}, BrokerId{2}}}),
              bad("The manual partition assignment includes a partition with 2 replica(s), but this is not consistent "
                  "with previous partitions, which have 1 replica(s)."));
    EXPECT_EQ(expand(4, {{BrokerId{1}}}), CatalogError{});
    EXPECT_EQ(catalog.catalog().find_topic("t")->partition_count, 4);
}

TEST(CreatePartitions, JudgesTopicsIndependentlyAndDuplicatesOnce) {
    TestCatalog catalog;
    catalog.create("a", 1);
    catalog.create("b", 1);
    CreatePartitions command;
    command.topics = {{"b", 1, {}}, {"d", 2, {}}, {"a", 2, {}}, {"d", 3, {}}};
    const auto reply = catalog.carry_out(command);
    ASSERT_EQ(reply.topics.size(), 3u);
    EXPECT_EQ(reply.topics[0].name, "d");
    EXPECT_EQ(reply.topics[0].error, error(ErrorCode::invalid_request, "Duplicate topic name."));
    EXPECT_EQ(reply.topics[1].name, "b");
    EXPECT_EQ(reply.topics[1].error.code, ErrorCode::invalid_partitions);
    EXPECT_EQ(reply.topics[2].name, "a");
    EXPECT_EQ(reply.topics[2].error, CatalogError{});
}

TEST(CreatePartitions, ValidateOnlyJudgesAndChangesNothing) {
    TestCatalog catalog;
    catalog.create("t", 3);
    CreatePartitions command;
    command.topics.push_back({"t", 6, std::nullopt});
    command.validate_only = true;
    const auto decision = catalog.decide(command);
    EXPECT_EQ(decision.result.topics.at(0).error, CatalogError{});
    EXPECT_TRUE(decision.effects.empty());
    command.topics[0].count = 2;
    EXPECT_EQ(catalog.decide(command).result.topics.at(0).error.code, ErrorCode::invalid_partitions);
}

/// Measured on 4.3.1: 10,000 more are accepted, 10,001 more answer -1.
TEST(CreatePartitions, AddsTenThousandAtMost) {
    TestCatalog catalog;
    catalog.create("t", 1);
    EXPECT_EQ(catalog.expand("t", 10002),
              error(ErrorCode::unknown_server_error, "The server experienced an unexpected error when processing the request."));
    EXPECT_EQ(catalog.catalog().find_topic("t")->partition_count, 1);
    EXPECT_EQ(catalog.expand("t", 10001), CatalogError{});
    EXPECT_EQ(catalog.expand("t", 20001), CatalogError{});
    EXPECT_EQ(catalog.catalog().partition_count(), 20001);
}

TEST(CreatePartitions, ExpandsInternalTopicsToo) {
    TestCatalog catalog;
    catalog.carry_out(AutoCreateTopic{"__consumer_offsets"});
    EXPECT_EQ(catalog.expand("__consumer_offsets", 60), CatalogError{});
}

// DeleteTopics --------------------------------------------------------------------------------------

TEST(DeleteTopics, FindsTopicsByNameAndById) {
    TestCatalog catalog;
    catalog.create("a");
    catalog.create("b", 2);
    catalog.expand("b", 4);
    const TopicId b = catalog.catalog().find_topic("b")->id;
    DeleteTopics command;
    command.topics = {{"a", {}}, {std::nullopt, b}};
    const auto reply = catalog.carry_out(command);
    ASSERT_EQ(reply.topics.size(), 2u);
    EXPECT_EQ(reply.topics[0].name, "a");
    EXPECT_EQ(reply.topics[1].name, "b");
    EXPECT_EQ(reply.topics[1].id, b);
    EXPECT_EQ(catalog.catalog().topic_count(), 0u);
    EXPECT_EQ(catalog.catalog().partition_count(), 0);
    // Only the state remains: tombstones took the topics and their epochs.
    EXPECT_EQ(catalog.persisted.size(), 1u);
}

TEST(DeleteTopics, RefusalsAreKafkas) {
    TestCatalog catalog;
    for (const char* name : {"foo", "bar", "baz"}) {
        catalog.create(name);
    }
    const auto id = [&](const char* name) { return catalog.catalog().find_topic(name)->id; };
    const TopicId unknown = TestTopicIds(999)();
    DeleteTopics command;
    command.topics = {{std::nullopt, {}},
                      {"foo", id("foo")},
                      {"bar", {}},
                      {std::nullopt, id("bar")},
                      {"quux", {}},
                      {"quux", {}},
                      {"nobody", {}},
                      {std::nullopt, id("baz")},
                      {std::nullopt, id("baz")},
                      {std::nullopt, unknown}};
    const auto reply = catalog.carry_out(command);
    std::map<std::string, CatalogError> by_text;
    for (const DeletedTopic& topic : reply.topics) {
        by_text[topic.name.value_or(topic.id.to_string())] = topic.error;
    }
    const auto invalid = [](std::string text) { return error(ErrorCode::invalid_request, std::move(text)); };
    EXPECT_EQ(by_text.size(), 7u);
    EXPECT_EQ(by_text[TopicId{}.to_string()], invalid("Neither topic name nor id were specified."));
    EXPECT_EQ(by_text["foo"], invalid("You may not specify both topic name and topic id."));
    EXPECT_EQ(by_text["bar"], invalid("The provided topic name maps to an ID that was already supplied."));
    EXPECT_EQ(by_text["quux"], invalid("Duplicate topic name."));
    EXPECT_EQ(by_text[id("baz").to_string()], invalid("Duplicate topic id."));
    EXPECT_EQ(by_text["nobody"], error(ErrorCode::unknown_topic_or_partition, "This server does not host this topic-partition."));
    EXPECT_EQ(by_text[unknown.to_string()], error(ErrorCode::unknown_topic_id, "This server does not host this topic ID."));
    EXPECT_EQ(catalog.catalog().topic_count(), 3u);
}

TEST(DeleteTopics, DisabledDeletionHasTwoCodes) {
    TestCatalog catalog;
    catalog.create("t");
    catalog.settings.delete_topic_enable = false;
    DeleteTopics command;
    command.topics = {{"t", {}}};
    EXPECT_EQ(catalog.decide(command).result.topics.at(0).error.code, ErrorCode::topic_deletion_disabled);
    command.request_version = 2;
    EXPECT_EQ(catalog.decide(command).result.topics.at(0).error.code, ErrorCode::invalid_request);
}

TEST(DeleteTopics, RecreatedTopicHasAnotherIdAndNoHistory) {
    TestCatalog catalog;
    catalog.create("t", 1);
    catalog.expand("t", 2);
    const TopicId before = catalog.catalog().find_topic("t")->id;
    DeleteTopics command;
    command.topics = {{"t", {}}};
    catalog.carry_out(command);
    catalog.create("t", 5);
    EXPECT_NE(catalog.catalog().find_topic("t")->id, before);
    EXPECT_THAT(catalog.catalog().find_topic("t")->expansions, IsEmpty());
}

// Configs -------------------------------------------------------------------------------------------

CatalogError alter(TestCatalog& catalog, ConfigResourceType type, std::string_view name, std::vector<ConfigChange> changes) {
    IncrementalAlterConfigs command;
    command.resources.push_back({{type, name}, std::move(changes)});
    return catalog.carry_out(command).resources.at(0).error;
}

TEST(IncrementalAlterConfigs, SetsRemovesAppendsAndSubtracts) {
    TestCatalog catalog;
    catalog.create("t");
    const auto topic = ConfigResourceType::topic;
    EXPECT_EQ(alter(catalog, topic, "t", {{"retention.ms", 0, "5"}, {"cleanup.policy", 2, "compact"}}), CatalogError{});
    EXPECT_THAT(catalog.catalog().find_topic("t")->configs,
                ElementsAre(std::pair("cleanup.policy", "delete,compact"), std::pair("retention.ms", "5")));
    EXPECT_EQ(alter(catalog, topic, "t", {{"retention.ms", 1, std::nullopt}, {"cleanup.policy", 3, "delete"}}), CatalogError{});
    EXPECT_THAT(catalog.catalog().find_topic("t")->configs, ElementsAre(std::pair("cleanup.policy", "compact")));
}

TEST(IncrementalAlterConfigs, RefusalsAreKafkas) {
    TestCatalog catalog;
    catalog.create("t");
    const auto topic = ConfigResourceType::topic;
    const auto request = [](std::string text) { return error(ErrorCode::invalid_request, std::move(text)); };
    const auto config = [](std::string text) { return error(ErrorCode::invalid_config, std::move(text)); };
    EXPECT_EQ(alter(catalog, topic, "t", {{"retention.ms", 2, "5"}}),
              config("Can't APPEND to key retention.ms because its type is not LIST."));
    EXPECT_EQ(alter(catalog, topic, "t", {{"retention.ms", 3, "5"}}),
              config("Can't SUBTRACT to key retention.ms because its type is not LIST."));
    EXPECT_EQ(alter(catalog, topic, "t", {{"x", 0, "5"}}), config("Unknown topic config name: x"));
    EXPECT_EQ(alter(catalog, topic, "t", {{"retention.ms", 0, "1"}, {"retention.ms", 1, {}}}),
              request("Error due to duplicate config keys"));
    EXPECT_EQ(alter(catalog, topic, "t", {{"retention.ms", 0, {}}, {"segment.bytes", 2, {}}}),
              request("Null value not supported for : retention.ms, segment.bytes"));
    EXPECT_EQ(alter(catalog, topic, "t", {{"retention.ms", 9, "1"}}),
              (CatalogError{ErrorCode::unknown_server_error, std::nullopt}));
    EXPECT_EQ(alter(catalog, topic, "nobody", {{"retention.ms", 0, "1"}}),
              error(ErrorCode::unknown_topic_or_partition, "The topic 'nobody' does not exist."));
    EXPECT_EQ(alter(catalog, topic, "nobody", {{"x", 0, "1"}}), config("Unknown topic config name: x"));
    EXPECT_EQ(alter(catalog, topic, "a b", {{"x", 0, "1"}}),
              error(ErrorCode::invalid_topic_exception,
                    "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, '.', "
                    "'_' and '-'"));
    EXPECT_EQ(alter(catalog, ConfigResourceType::broker, "7", {{"retention.ms", 0, "1"}}),
              request("Unexpected broker id, expected 1, but received 7"));
    EXPECT_EQ(alter(catalog, ConfigResourceType::broker, "seven", {{"retention.ms", 0, "1"}}),
              request("Node id must be an integer, but it is: seven"));
    EXPECT_EQ(alter(catalog, ConfigResourceType::unknown, "t", {{"retention.ms", 0, "1"}}), request("Unknown resource type 0"));
}

TEST(IncrementalAlterConfigs, DuplicateResourcesAreRefusedEach) {
    TestCatalog catalog;
    catalog.create("t");
    IncrementalAlterConfigs command;
    for (int index = 0; index < 2; ++index) {
        command.resources.push_back({{ConfigResourceType::topic, "t"}, {{"retention.ms", 0, "1"}}});
    }
    const auto decision = catalog.decide(command);
    for (const AlteredResource& resource : decision.result.resources) {
        EXPECT_EQ(resource.error, error(ErrorCode::invalid_request, "Each resource must appear at most once."));
    }
    EXPECT_TRUE(decision.effects.empty());
}

TEST(IncrementalAlterConfigs, UnchangedTopicLeavesNoRecordButABrokerReloads) {
    TestCatalog catalog;
    catalog.create("t", 1, 1, {{"retention.ms", "5"}});
    alter(catalog, ConfigResourceType::topic, "t", {{"retention.ms", 0, "5"}});
    EXPECT_TRUE(catalog.last_effects.empty());
    for (int time = 0; time < 2; ++time) {
        alter(catalog, ConfigResourceType::broker, "1", {{"retention.ms", 0, "5"}});
        ASSERT_EQ(catalog.last_effects.changes.size(), 1u);
        EXPECT_EQ(catalog.last_effects.changes[0].resource_name, "1");
    }
    EXPECT_THAT(catalog.catalog().broker_configs(BrokerId{1}), ElementsAre(std::pair("retention.ms", "5")));
}

TEST(IncrementalAlterConfigs, KeepsBrokersGroupsAndDefaultsApartAndAcrossRestarts) {
    TestCatalog catalog;
    alter(catalog, ConfigResourceType::broker, "", {{"retention.ms", 0, "1"}});
    alter(catalog, ConfigResourceType::broker, "1", {{"retention.ms", 0, "2"}});
    alter(catalog, ConfigResourceType::group, "g", {{"retention.ms", 0, "3"}});
    alter(catalog, ConfigResourceType::client_metrics, "m", {{"retention.ms", 0, "4"}});
    catalog.restart();
    const CatalogSnapshot& snapshot = catalog.catalog();
    EXPECT_THAT(snapshot.default_broker_configs(), ElementsAre(std::pair("retention.ms", "1")));
    EXPECT_THAT(snapshot.broker_configs(BrokerId{1}), ElementsAre(std::pair("retention.ms", "2")));
    EXPECT_THAT(snapshot.group_configs("g"), ElementsAre(std::pair("retention.ms", "3")));
    EXPECT_THAT(snapshot.client_metrics_configs("m"), ElementsAre(std::pair("retention.ms", "4")));
    alter(catalog, ConfigResourceType::group, "g", {{"retention.ms", 1, {}}});
    EXPECT_THAT(catalog.catalog().all_group_configs(), IsEmpty());
}

TEST(AlterConfigs, DeletesWhatIsNotNamed) {
    TestCatalog catalog;
    catalog.create("t", 1, 1, {{"retention.ms", "5"}, {"segment.bytes", "6"}});
    AlterConfigs command;
    command.resources.push_back({{ConfigResourceType::topic, "t"}, {{"cleanup.policy", "compact"}}});
    EXPECT_EQ(catalog.carry_out(command).resources.at(0).error, CatalogError{});
    EXPECT_THAT(catalog.catalog().find_topic("t")->configs, ElementsAre(std::pair("cleanup.policy", "compact")));
    command.resources[0].configs = {{"retention.ms", {}}, {"segment.bytes", {}}};
    EXPECT_EQ(catalog.decide(command).result.resources.at(0).error,
              error(ErrorCode::invalid_request, "Null value not supported for : retention.ms,segment.bytes"));
}

// Identity and producer ids -------------------------------------------------------------------------

TEST(ProducerIds, BlocksNeverRepeatAcrossRestarts) {
    TestCatalog catalog;
    std::int64_t expected = 0;
    for (int run = 0; run < 3; ++run) {
        for (int block = 0; block < 2; ++block) {
            const auto reply = catalog.carry_out(AllocateProducerIds());
            EXPECT_EQ(reply.first, ProducerId{expected});
            EXPECT_EQ(reply.count, 1000);
            expected += 1000;
        }
        catalog.restart();
    }
}

TEST(Identity, IsGivenOnceAndKept) {
    TestCatalog catalog;
    EXPECT_EQ(catalog.carry_out(Initialise{"first", {{"metadata.version", 30}}}).cluster_id, "first");
    catalog.restart();
    const auto again = catalog.decide(Initialise{"second", {{"metadata.version", 30}}});
    EXPECT_EQ(again.result.cluster_id, "first");
    EXPECT_TRUE(again.effects.empty());
    catalog.carry_out(Initialise{"second", {{"metadata.version", 31}}});
    EXPECT_EQ(catalog.catalog().cluster_id(), "first");
    EXPECT_EQ(catalog.catalog().finalized_features().at("metadata.version"), 31);
}

// Replay --------------------------------------------------------------------------------------------

TEST(Replay, RefusesRecordsOfANewerVersion) {
    TestConfigRules rules;
    CatalogCore core(rules);
    Record record = state_record(1, ProducerId{0});
    (*record.value)[1] = 1;
    const auto result = core.replay(as_bytes(record.key), as_bytes(*record.value));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, CatalogReplayError::Kind::newer_version);
    const auto unknown_type = core.replay(as_bytes(std::string_view("\0\x63", 2)), as_bytes("x"));
    ASSERT_FALSE(unknown_type.has_value());
    EXPECT_EQ(unknown_type.error().kind, CatalogReplayError::Kind::newer_version);
}

TEST(Replay, RefusesTruncatedRecordsAtEveryLength) {
    Topic topic;
    topic.name = "orders";
    topic.id = TestTopicIds()();
    topic.partition_count = 3;
    topic.configs = {{"retention.ms", "5"}};
    const Record record = topic_record(topic);
    for (std::size_t length = 0; length < record.value->size(); ++length) {
        TestConfigRules rules;
        CatalogCore core(rules);
        EXPECT_FALSE(core.replay(as_bytes(record.key), as_bytes(*record.value).first(length)).has_value()) << length;
    }
}

TEST(Replay, RefusesAnExpansionHistoryWithAGap) {
    TestCatalog catalog;
    catalog.create("t", 1);
    catalog.expand("t", 2);
    catalog.expand("t", 3);
    TestConfigRules rules;
    for (const std::int32_t missing : {1, 2}) {
        CatalogCore core(rules);
        const std::string gap = encode_key(ExpansionKey{catalog.catalog().find_topic("t")->id, missing});
        for (const auto& [key, value] : catalog.persisted) {
            if (key == gap) {
                continue;
            }
            ASSERT_TRUE(core.replay(as_bytes(key), as_bytes(value)).has_value());
        }
        EXPECT_FALSE(core.finish_replay().has_value()) << missing;
    }
}

TEST(Replay, AcceptsFieldsThatLaterVersionsAdd) {
    Topic topic;
    topic.name = "orders";
    topic.id = TestTopicIds()();
    topic.partition_count = 3;
    Record record = topic_record(topic);
    // The last byte is the count of tagged fields: one of number 7 with two bytes of content is added.
    record.value->back() = 1;
    record.value->append("\x07\x02xy");
    TestConfigRules rules;
    CatalogCore core(rules);
    ASSERT_TRUE(core.replay(as_bytes(record.key), as_bytes(*record.value)).has_value());
    ASSERT_TRUE(core.finish_replay().has_value());
    EXPECT_EQ(core.snapshot()->find_topic("orders")->partition_count, 3);
}

}  // namespace
}  // namespace partita::catalog
