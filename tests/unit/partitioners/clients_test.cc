#include "broker/partitioners/clients.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace partita::partitioners {
namespace {

TEST(ClientPartitioners, EveryNameAndAliasIsFoundAndMeansOneThing) {
    std::set<std::string_view> seen;
    for (const ClientPartitioner& client : client_partitioners()) {
        EXPECT_TRUE(seen.insert(client.name).second) << client.name;
        ASSERT_TRUE(find_partitioner(client.name)) << client.name;
        EXPECT_EQ(find_partitioner(client.name)->name, client.name);
        for (const std::string_view alias : client.aliases) {
            EXPECT_TRUE(seen.insert(alias).second) << alias;
            ASSERT_TRUE(find_partitioner(alias)) << alias;
            EXPECT_EQ(find_partitioner(alias)->name, client.name);
        }
    }
}

TEST(ClientPartitioners, NamesAreFoundAsLibrdkafkaAndJavaSpellThem) {
    EXPECT_EQ(find_partitioner("consistent_random")->name, "librdkafka");
    EXPECT_EQ(find_partitioner("murmur2_random")->name, "librdkafka-murmur2-random");
    EXPECT_EQ(find_partitioner("Java")->family, Family::murmur2_pos);
    EXPECT_EQ(find_partitioner("kjs_legacy-pos")->family, Family::kjs_legacy_pos);
    EXPECT_EQ(find_partitioner("kjs-legacy-pos")->family, Family::kjs_legacy_pos);
    EXPECT_EQ(find_partitioner("nobody"), std::nullopt);
    EXPECT_EQ(find_partitioner(""), std::nullopt);
}

TEST(ClientPartitioners, AnUnknownNameGetsNearOnesSuggested) {
    EXPECT_EQ(similar_partitioners("jave").front(), "java");
    EXPECT_EQ(similar_partitioners("murmur2").size(), 3u);
    EXPECT_TRUE(similar_partitioners("zzzzzzzz").empty());
}

TEST(ClientPartitioners, EmptyKeysFollowTheClientsOwnRule) {
    const Bytes empty;
    EXPECT_EQ(partition_of(*find_partitioner("java"), empty, 6), PartitionIndex{3});
    EXPECT_EQ(partition_of(*find_partitioner("librdkafka"), empty, 6), std::nullopt);
    EXPECT_EQ(partition_of(*find_partitioner("librdkafka-consistent"), empty, 6), PartitionIndex{0});
    EXPECT_EQ(partition_of(*find_partitioner("kafka-node"), empty, 6), PartitionIndex{1});
    EXPECT_EQ(partition_of(*find_partitioner("kafka-rust"), empty, 6), std::nullopt);
}

TEST(ClientPartitioners, NullKeysFollowTheClientsOwnRule) {
    EXPECT_EQ(partition_of(*find_partitioner("java"), std::nullopt, 6), std::nullopt);
    EXPECT_EQ(partition_of(*find_partitioner("librdkafka-consistent"), std::nullopt, 6), PartitionIndex{0});
    EXPECT_EQ(partition_of(*find_partitioner("librdkafka-murmur2"), std::nullopt, 6), PartitionIndex{3});
    EXPECT_EQ(partition_of(*find_partitioner("platformatic-compatibility"), std::nullopt, 6), PartitionIndex{0});
}

TEST(ClientPartitioners, ThoseThatIgnoreKeysPlaceNone) {
    EXPECT_EQ(partition_of(*find_partitioner("kafka-go"), as_bytes("a"), 6), std::nullopt);
    EXPECT_EQ(partition_of(*find_partitioner("java-round-robin"), as_bytes("a"), 6), std::nullopt);
}

TEST(ClientPartitioners, SoftwareNamesGiveAPriorWithAndWithoutVersions) {
    EXPECT_EQ(expected_family("apache-kafka-java"), Family::murmur2_pos);
    EXPECT_EQ(expected_family("librdkafka"), Family::crc32_uns);
    EXPECT_EQ(expected_family("confluent-kafka-python-2.5.0-rdkafka"), Family::crc32_uns);
    EXPECT_EQ(expected_family("kgo"), Family::murmur2_pos);
    EXPECT_EQ(expected_family("platformatic-kafka"), Family::murmur2_uns);
    EXPECT_EQ(expected_family("kafkajs"), std::nullopt);
    EXPECT_EQ(expected_family(""), std::nullopt);
}

}  // namespace
}  // namespace partita::partitioners
