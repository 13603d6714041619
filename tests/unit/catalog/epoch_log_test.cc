#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "broker/catalog/catalog_records.h"
#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::catalog {
namespace {

using ::testing::ElementsAre;

ExpansionCircumstances circumstances() {
    ExpansionCircumstances known;
    known.requested_by = {"admin-1", "apache-kafka-java", "4.3.1", "127.0.0.1", "User:ANONYMOUS"};
    known.mode = "guarded";
    known.verdict = "findings";
    known.findings = {"H02", "H01"};
    known.override_used = "second request";
    known.groups = {{"b", "Empty", 0, 2, 7}, {"a", "Stable", 3, 3, 0}};
    known.group_count = 2;
    known.seeded_groups = {"a"};
    return known;
}

void expand(TestCatalog& catalog, std::string_view topic, std::int32_t count, const ExpansionCircumstances& known) {
    const JudgedExpansion judged{.refusal = {}, .circumstances = bounded_circumstances(known)};
    CreatePartitions command;
    command.topics.push_back({topic, count, std::nullopt, &judged});
    ASSERT_FALSE(catalog.carry_out(command).topics.at(0).error.failed());
}

const ExpansionEpoch& last_epoch(const TestCatalog& catalog, std::string_view topic) {
    return *catalog.catalog().find_topic(topic)->expansions.back();
}

ProducerSwitch producer(std::string client_id, std::string address = "10.0.0.1") {
    return {std::move(client_id), std::move(address), TimestampMs{9000}, PartitionIndex{5}, Offset{77}, 12};
}

TEST(EpochLog, CircumstancesSurviveARestartInOrder) {
    TestCatalog catalog;
    catalog.create("orders", 3);
    expand(catalog, "orders", 6, circumstances());
    catalog.restart();
    const auto& known = last_epoch(catalog, "orders").circumstances;
    ASSERT_NE(known, nullptr);
    ExpansionCircumstances expected = circumstances();
    std::ranges::reverse(expected.findings);
    std::ranges::reverse(expected.groups);
    EXPECT_EQ(*known, expected);
}

TEST(EpochLog, CircumstancesAreInTheAtomicGroupOfTheNewCount) {
    TestCatalog catalog;
    catalog.create("orders", 3);
    expand(catalog, "orders", 6, circumstances());
    std::vector<std::size_t> types;
    for (const Record& record : catalog.last_effects.records) {
        types.push_back(decode_key(as_bytes(record.key))->index());
    }
    EXPECT_THAT(types,
                ElementsAre(CatalogKey(TopicKey{}).index(), CatalogKey(ExpansionKey{}).index(), CatalogKey(StateKey{}).index()));
}

TEST(EpochLog, ExpansionWithoutCircumstancesSaysSo) {
    TestCatalog catalog;
    catalog.create("orders", 3);
    catalog.expand("orders", 6);
    catalog.restart();
    EXPECT_EQ(last_epoch(catalog, "orders").circumstances, nullptr);
}

TEST(EpochLog, ReadsRecordsFromBeforeCircumstancesExisted) {
    // Bytes that version 0 wrote: 3 to 6 partitions at time 5000, sequence 2, one log end of 10.
    constexpr std::string_view kVersion0(
        "\0\0"
        "\0\0\0\x03\0\0\0\x06\0\0\0\0\0\0\x13\x88\0\0\0\0\0\0\0\x02"
        "\x02\0\0\0\0\0\0\0\x0a\0",
        36);
    const auto expansion = decode_expansion(ExpansionKey{{}, 1}, as_bytes(kVersion0));
    ASSERT_TRUE(expansion.has_value()) << expansion.error().message;
    EXPECT_EQ(expansion->new_partition_count, 6);
    EXPECT_EQ(expansion->time, TimestampMs{5000});
    EXPECT_THAT(expansion->log_end_offsets, ElementsAre(Offset{10}));
    EXPECT_EQ(expansion->circumstances, nullptr);
}

TEST(EpochLog, CutsWhatExceedsItsBounds) {
    TestCatalog catalog;
    catalog.create("orders", 3);
    ExpansionCircumstances known;
    known.requested_by.client_id = std::string(100'000, 'c');
    for (int index = 0; index < 1500; ++index) {
        known.groups.push_back({"g" + std::to_string(index), "Empty"});
    }
    known.findings.resize(100, "H01");
    known.seeded_groups.resize(1500, "g");
    expand(catalog, "orders", 6, known);
    catalog.restart();
    const ExpansionCircumstances& kept = *last_epoch(catalog, "orders").circumstances;
    EXPECT_EQ(kept.requested_by.client_id.size(), ExpansionCircumstances::kTextBytesMax);
    EXPECT_EQ(kept.groups.size(), ExpansionCircumstances::kGroupsMax);
    EXPECT_EQ(kept.group_count, 1500);
    EXPECT_EQ(kept.seeded_groups.size(), ExpansionCircumstances::kGroupsMax);
    EXPECT_EQ(kept.findings.size(), ExpansionCircumstances::kFindingsMax);
}

TEST(EpochLog, ProducersAreAddedLaterAndTheirFirstSwitchStands) {
    TestCatalog catalog;
    catalog.create("orders", 3);
    catalog.expand("orders", 6);
    const TopicId id = catalog.catalog().find_topic("orders")->id;
    const auto record = [&](std::vector<ProducerSwitch> switches) {
        return catalog.carry_out(RecordProducerSwitches{id, 1, std::move(switches)}).recorded;
    };
    EXPECT_EQ(record({producer("p2"), producer("p1"), producer("p1", "10.0.0.2")}), 3);
    ProducerSwitch again = producer("p1");
    again.time = TimestampMs{10'000};
    EXPECT_EQ(record({again}), 0);
    EXPECT_TRUE(catalog.last_effects.empty());
    catalog.restart();
    EXPECT_THAT(last_epoch(catalog, "orders").producer_switches,
                ElementsAre(producer("p1"), producer("p1", "10.0.0.2"), producer("p2")));
}

TEST(EpochLog, SwitchesOfUnknownTopicsAndEpochsAreNotRecorded) {
    TestCatalog catalog;
    catalog.create("orders", 3);
    catalog.expand("orders", 6);
    const TopicId id = catalog.catalog().find_topic("orders")->id;
    for (const std::int32_t epoch : {-1, 0, 2}) {
        EXPECT_EQ(catalog.decide(RecordProducerSwitches{id, epoch, {producer("p")}}).result.recorded, 0) << epoch;
    }
    EXPECT_EQ(catalog.decide(RecordProducerSwitches{TopicId{}, 1, {producer("p")}}).result.recorded, 0);
}

TEST(EpochLog, SeedsThatWereTakenBackAreForgottenForGoodAndNothingElseIs) {
    TestCatalog catalog;
    catalog.create("orders", 3);
    expand(catalog, "orders", 6, circumstances());
    const TopicId id = catalog.catalog().find_topic("orders")->id;
    (void)catalog.carry_out(RecordProducerSwitches{id, 1, {producer("p")}});
    ExpansionCircumstances expected = *last_epoch(catalog, "orders").circumstances;
    expected.seeded_groups.clear();
    EXPECT_THAT(catalog.carry_out(ForgetSeededGroups{id, 1}).groups, ElementsAre("a"));
    EXPECT_THAT(catalog.carry_out(ForgetSeededGroups{id, 1}).groups, ElementsAre());
    EXPECT_TRUE(catalog.last_effects.empty());
    catalog.restart();
    EXPECT_EQ(*last_epoch(catalog, "orders").circumstances, expected);
    EXPECT_THAT(last_epoch(catalog, "orders").producer_switches, ElementsAre(producer("p")));
    for (const std::int32_t epoch : {-1, 0, 2}) {
        EXPECT_TRUE(catalog.decide(ForgetSeededGroups{id, epoch}).effects.empty()) << epoch;
    }
    EXPECT_TRUE(catalog.decide(ForgetSeededGroups{TopicId{}, 1}).effects.empty());
}

TEST(EpochLog, KeepsAThousandProducersOfAnExpansion) {
    TestCatalog catalog;
    catalog.create("orders", 3);
    catalog.expand("orders", 6);
    std::vector<ProducerSwitch> switches;
    for (int index = 0; index < 1003; ++index) {
        switches.push_back(producer("p" + std::to_string(index)));
    }
    const auto reply = catalog.carry_out(RecordProducerSwitches{catalog.catalog().find_topic("orders")->id, 1, switches});
    EXPECT_EQ(reply.recorded, 1000);
    EXPECT_EQ(reply.beyond_bound, 3);
}

TEST(EpochLog, ADeletedTopicLeavesNothingBehind) {
    TestCatalog catalog;
    catalog.create("orders", 3);
    expand(catalog, "orders", 6, circumstances());
    const TopicId id = catalog.catalog().find_topic("orders")->id;
    (void)catalog.carry_out(RecordProducerSwitches{id, 1, {producer("p")}});
    DeleteTopics command;
    command.topics.push_back({"orders", {}});
    (void)catalog.carry_out(command);
    EXPECT_EQ(catalog.persisted.size(), 1u) << "only the state record is left";
    catalog.restart();
}

TEST(EpochLog, RefusesSwitchesThatBelongToNoExpansion) {
    TestCatalog catalog;
    catalog.create("orders", 3);
    catalog.expand("orders", 6);
    const TopicId id = catalog.catalog().find_topic("orders")->id;
    for (const Record& stray :
         {producer_switch_record(id, 2, producer("p")), producer_switch_record(TopicId{}, 1, producer("p"))}) {
        TestConfigRules rules;
        CatalogCore core(rules);
        for (const auto& [key, value] : catalog.persisted) {
            ASSERT_TRUE(core.replay(as_bytes(key), as_bytes(value)));
        }
        ASSERT_TRUE(core.replay(as_bytes(stray.key), as_bytes(*stray.value)));
        EXPECT_FALSE(core.finish_replay().has_value());
    }
}

TEST(EpochLog, RefusesTruncatedKeysOfSwitches) {
    const Record record = producer_switch_record(TestTopicIds()(), 1, producer("p", ""));
    for (std::size_t length = 0; length < record.key.size(); ++length) {
        EXPECT_FALSE(decode_key(as_bytes(record.key).first(length)).has_value()) << length;
    }
    EXPECT_TRUE(decode_key(as_bytes(record.key)).has_value());
}

}  // namespace
}  // namespace partita::catalog
