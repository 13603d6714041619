#include "broker/seed/seed.h"

#include <gmock/gmock.h>

#include <limits>
#include <map>
#include <string>

namespace partita::seed {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Seed seed_of(const std::string& text) {
    auto seed = read_seed(text);
    EXPECT_TRUE(seed.has_value()) << (seed ? "" : seed.error().text());
    return seed ? std::move(*seed) : Seed{};
}

std::string problem_of(const std::string& text) {
    const auto seed = read_seed(text);
    return seed ? "none" : seed.error().text();
}

TEST(Seed, AFileHasTopicsRecordsAndGroups) {
    const Seed seed = seed_of(R"(
topics:
  orders: {partitions: 6, configs: {cleanup.policy: compact, retention.ms: 7000}}
  plain: 2
  bare:
records:
  - {topic: orders, key: a, value: text, headers: {trace: x, none: null}, partition: 3, timestamp: 17}
  - {topic: orders, key: 42, value: {total: 7}}
  - {topic: orders, key_base64: AAE=, value: null}
  - {topic: plain, generate: 10, keys: 3}
groups:
  billing: {orders: {0: 500, 1: latest}, plain: 25%}
)");
    ASSERT_EQ(seed.topics.size(), 3u);
    EXPECT_EQ(seed.topics[0].partitions, 6);
    EXPECT_THAT(seed.topics[0].configs, ElementsAre(Pair("cleanup.policy", "compact"), Pair("retention.ms", "7000")));
    EXPECT_EQ(seed.topics[1].partitions, 2);
    EXPECT_EQ(seed.topics[2].partitions, std::nullopt);
    ASSERT_EQ(seed.records.size(), 4u);
    const auto& first = std::get<SeedRecord>(seed.records[0]);
    EXPECT_EQ(first.key, "a");
    EXPECT_EQ(first.value, "text");
    EXPECT_THAT(first.headers, ElementsAre(Pair("trace", "x"), Pair("none", std::nullopt)));
    EXPECT_EQ(first.place.partition, 3);
    EXPECT_EQ(first.timestamp_ms, 17);
    EXPECT_EQ(std::get<SeedRecord>(seed.records[1]).key, "42");
    EXPECT_EQ(std::get<SeedRecord>(seed.records[1]).value, R"({"total":7})");
    EXPECT_EQ(std::get<SeedRecord>(seed.records[2]).key, std::string("\0\1", 2));
    EXPECT_EQ(std::get<SeedRecord>(seed.records[2]).value, std::nullopt);
    EXPECT_EQ(std::get<SeedGenerator>(seed.records[3]).count, 10);
    ASSERT_EQ(seed.commits.size(), 3u);
    EXPECT_EQ(seed.commits[0].partition, 0);
    EXPECT_EQ(seed.commits[0].offset.value, 500);
    EXPECT_EQ(seed.commits[1].offset.kind, SeedOffset::Kind::latest);
    EXPECT_EQ(seed.commits[2].partition, std::nullopt);
    EXPECT_EQ(seed.commits[2].offset.within(0, 400), 100);
}

TEST(Seed, AMistakeNamesItsPlace) {
    EXPECT_EQ(problem_of("topics:\n  a: {partitons: 3}\n"),
              "line 2, column 7: topics.a.partitons is unknown here; did you mean partitions?");
    EXPECT_EQ(problem_of("records:\n  - {topic: a}\n"),
              "line 2, column 5: records[0] needs value (null for a tombstone), value_base64, value_hex or generate");
    EXPECT_EQ(problem_of("records: [{value: a}]"), "line 1, column 11: records[0] needs topic");
    EXPECT_EQ(problem_of("records: [{topic: a, value: b, value_hex: '00'}]"),
              "line 1, column 32: records[0].value_hex says again what value is");
    EXPECT_EQ(problem_of("records: [{topic: a, value_base64: '*'}]"),
              "line 1, column 22: records[0].value_base64 must be base64");
    EXPECT_EQ(
        problem_of("records: [{topic: a, value: b, partitioner: jav}]"),
        "line 1, column 32: records[0].partitioner is unknown; did you mean java, java-round-robin, confluent-kafka-javascript?");
    EXPECT_EQ(problem_of("records: [{topic: a, generate: 0}]"),
              "line 1, column 22: records[0].generate must be a whole number from 1 to 1000000000");
    EXPECT_EQ(problem_of("records: [{topic: a, generate: 1, every_ms: 5}]"),
              "line 1, column 35: records[0].every_ms has no effect without timestamp, the time of the first record");
    EXPECT_EQ(problem_of("groups: {g: {a: half}}"),
              "line 1, column 14: groups.g.a must be an offset, earliest, latest, or a share such as 25%");
    EXPECT_EQ(problem_of("groups: {g: {a: {x: 1}}}"),
              "line 1, column 18: groups.g.a.x must stand behind the number of a partition");
    EXPECT_EQ(problem_of("topics: [a]"), "line 1, column 1: topics must be a mapping");
}

TEST(Seed, JsonLinesAreRecordsOrPartsOfAFile) {
    const auto record = read_seed_line(
        R"({"topic":"a","partition":0,"offset":7,"timestamp":5,"headers":[{"key":"h","value_hex":"ff"}],"key":null,"value":"v"})");
    ASSERT_TRUE(record.has_value()) << record.error().text();
    EXPECT_EQ(std::get<SeedRecord>(record->records[0]).key, std::nullopt);
    EXPECT_THAT(std::get<SeedRecord>(record->records[0]).headers, ElementsAre(Pair("h", "\xff")));
    EXPECT_EQ(read_seed_line(R"({"topics": {"a": 3}})")->topics[0].partitions, 3);
    EXPECT_EQ(std::get<SeedGenerator>(read_seed_line(R"({"topic": "a", "generate": 3})")->records[0]).count, 3);
    EXPECT_EQ(read_seed_line("[1]").error().text(), "not a JSON object");
    EXPECT_EQ(read_seed_line(R"({"topic": 7, "value": "v"})").error().text(), "topic must be a text");
}

TEST(Seed, AGeneratorRepeatsItself) {
    const auto document = yaml::parse(
        "{topic: a, generate: 1000, keys: 20, seed: 7, value: '{\"n\": {n}, \"k\": {key}}', value_bytes: 40, "
        "timestamp: 100, every_ms: 5}");
    yaml::Reader reader(*document);
    const SeedGenerator generator = read_generator(reader.value());
    ASSERT_FALSE(reader.problem().has_value());
    std::map<std::string, int> keys;
    for (int number = 0; number < 1000; ++number) {
        const SeedRecord one = generator.record(number);
        const SeedRecord again = generator.record(number);
        EXPECT_EQ(one.value, again.value);
        EXPECT_EQ(one.value->size(), 40u);
        EXPECT_EQ(one.timestamp_ms, 100 + 5 * number);
        ++keys[*one.key];
    }
    EXPECT_EQ(keys.size(), 20u);
    EXPECT_TRUE(generator.record(3).value->starts_with(R"({"n": 3, "k": )"));
    // Written down: another seed, another release and another machine must not change a fixture.
    EXPECT_EQ(generator.record(0).key, "key-7");
    EXPECT_EQ(generator.record(999).key, "key-2");
    SeedGenerator other = generator;
    other.seed = 8;
    EXPECT_NE(other.record(0).value, generator.record(0).value);
}

TEST(Seed, OffsetsLieWithinThePartition) {
    using Kind = SeedOffset::Kind;
    EXPECT_EQ((SeedOffset{Kind::earliest}.within(10, 20)), 10);
    EXPECT_EQ((SeedOffset{Kind::latest}.within(10, 20)), 20);
    EXPECT_EQ((SeedOffset{Kind::percent, 25}.within(10, 20)), 12);
    EXPECT_EQ((SeedOffset{Kind::percent, 100}.within(0, std::numeric_limits<std::int64_t>::max())),
              std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ((SeedOffset{Kind::number, 7}.within(10, 20)), 7);
}

TEST(Seed, RecordsArePlacedAsTheirProducersDo) {
    Placer placer;
    SeedRecord record{.topic = "a", .key = "key-1"};
    const auto by_java = placer.place(record, 6);
    ASSERT_TRUE(by_java.has_value());
    record.place.partitioner = partitioners::find_partitioner("librdkafka");
    EXPECT_NE(placer.place(record, 6), by_java);
    record.place = {.partition = std::nullopt, .partitioner = std::nullopt, .known_partitions = 1};
    EXPECT_EQ(placer.place(record, 6), 0);
    record.place = {.partition = 5, .partitioner = std::nullopt, .known_partitions = std::nullopt};
    EXPECT_EQ(placer.place(record, 6), 5);
    EXPECT_EQ(placer.place(record, 5).error(), "topic a has 5 partitions, and none with the number 5");
    // Without a key, one after the other.
    const SeedRecord keyless{.topic = "a"};
    for (const std::int32_t partition : {0, 1, 2, 0, 1}) {
        EXPECT_EQ(placer.place(keyless, 3), partition);
    }
}

}  // namespace
}  // namespace partita::seed
