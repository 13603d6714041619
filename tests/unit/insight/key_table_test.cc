#include "broker/insight/keys/key_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>

#include "broker/insight/keys/heavy_hitters.h"

namespace partita::insight {
namespace {

bool add(KeyTable& table, const std::string& key, std::int32_t partition = 0, std::int32_t epoch = 0, std::size_t bytes = 1,
         bool tombstone = false) {
    return table.add(as_bytes(key), KeyTable::hash_of(as_bytes(key)), PartitionIndex{partition}, epoch, bytes, tombstone);
}

TEST(KeyTable, EqualsAMapWhileItIsExact) {
    std::mt19937_64 random(7);
    KeyTable table({.keys_max = 5000});
    std::map<std::string, std::map<std::pair<int, int>, std::int64_t>> expected;
    std::map<std::string, std::int64_t> bytes;
    for (int index = 0; index < 50'000; ++index) {
        const std::string key = "k" + std::to_string(random() % 4000);
        const int partition = static_cast<int>(random() % 3);
        const int epoch = static_cast<int>(random() % 2);
        add(table, key, partition, epoch, 10);
        ++expected[key][{partition, epoch}];
        bytes[key] += 10;
    }
    EXPECT_TRUE(table.is_exact());
    ASSERT_EQ(table.entries().size(), expected.size());
    for (const KeyEntry& entry : table.entries()) {
        std::map<std::pair<int, int>, std::int64_t> found;
        table.for_each_placement(
            entry, [&](const Placement& placement) { found[{placement.partition.value, placement.epoch}] = placement.records; });
        EXPECT_EQ(found, expected[std::string(entry.key)]);
        EXPECT_EQ(entry.bytes, bytes[std::string(entry.key)]);
    }
}

TEST(KeyTable, BecomesAUniformSampleWithExactKeysWhenItIsFull) {
    KeyTable table({.keys_max = 4000});
    constexpr int kKeys = 200'000;
    for (int round = 0; round < 2; ++round) {
        for (int index = 0; index < kKeys; ++index) {
            add(table, "key-" + std::to_string(index), index % 5, 0, 3);
        }
    }
    EXPECT_FALSE(table.is_exact());
    EXPECT_LE(table.entries().size(), 4000u);
    EXPECT_NEAR(static_cast<double>(table.distinct_keys()), kKeys, 4 * table.relative_error() * kKeys);
    // The sample never forgets a part of a key that it still holds.
    for (const KeyEntry& entry : table.entries()) {
        EXPECT_EQ(entry.records, 2);
        EXPECT_EQ(entry.bytes, 6);
    }
}

TEST(KeyTable, TakesExactlyItsBoundWithoutSampling) {
    KeyTable table({.keys_max = 100});
    for (int index = 0; index < 100; ++index) {
        add(table, std::to_string(index));
    }
    EXPECT_TRUE(table.is_exact());
    EXPECT_EQ(table.distinct_keys(), 100);
    add(table, "one more");
    EXPECT_FALSE(table.is_exact());
}

TEST(KeyTable, MemoryIsBoundedByTheBytesOfKeysToo) {
    KeyTable table({.keys_max = 1'000'000, .key_bytes_max = 4 << 20, .key_size_max = 2 << 20});
    for (int index = 0; index < 50; ++index) {
        add(table, std::string(1 << 20, 'k') + std::to_string(index));
    }
    EXPECT_FALSE(table.is_exact());
    EXPECT_LT(table.memory_bytes(), std::size_t{12} << 20);
}

TEST(KeyTable, CountsKeysThatAreTooLongWithoutKeepingThem) {
    KeyTable table({.key_size_max = 10});
    EXPECT_FALSE(add(table, std::string(11, 'x')));
    EXPECT_TRUE(add(table, std::string(10, 'x')));
    EXPECT_EQ(table.oversized_keys(), 1);
    EXPECT_FALSE(table.is_exact());
}

TEST(KeyTable, KeepsABoundedNumberOfFurtherPlaces) {
    KeyTable table({.more_placements_max = 3});
    for (int partition = 0; partition < 10; ++partition) {
        add(table, "k", partition);
    }
    int places = 0;
    table.for_each_placement(table.entries()[0], [&](const Placement&) { ++places; });
    EXPECT_EQ(places, 4);
    EXPECT_EQ(table.lost_placements(), 6);
    EXPECT_EQ(table.entries()[0].records, 10);
}

TEST(KeyTable, RemembersWhetherTheNewestRecordIsATombstone) {
    KeyTable table({});
    add(table, "k", 1, 0, 1, true);
    add(table, "k", 1, 0, 1, false);
    add(table, "k", 2, 0, 1, false);
    add(table, "k", 2, 0, 1, true);
    std::map<int, bool> deleted;
    table.for_each_placement(table.entries()[0],
                             [&](const Placement& place) { deleted[place.partition.value] = place.is_deleted; });
    EXPECT_EQ(deleted, (std::map<int, bool>{{1, false}, {2, true}}));
}

TEST(KeyTable, TheEmptyKeyIsAKey) {
    KeyTable table({});
    add(table, "");
    add(table, "");
    EXPECT_EQ(table.distinct_keys(), 1);
}

TEST(HeavyHitters, KeepEveryKeyAboveTheirShareWithinTheirError) {
    std::mt19937_64 random(3);
    std::map<std::uint64_t, std::int64_t> exact;
    HeavyHitters heavy(100);
    std::int64_t total = 0;
    for (int index = 0; index < 100'000; ++index) {
        // About a half of the weight on ten keys, the rest spread over many.
        const std::uint64_t key = random() % 2 == 0 ? random() % 10 : 100 + random() % 50'000;
        exact[key] += 7;
        total += 7;
        heavy.add(key, std::to_string(key), 7);
    }
    std::map<std::string, HeavyHitters::Item> kept;
    for (const HeavyHitters::Item& item : heavy.items()) {
        kept[item.key] = item;
    }
    EXPECT_LE(kept.size(), 100u);
    for (const auto& [key, weight] : exact) {
        const auto found = kept.find(std::to_string(key));
        if (weight > total / 100) {
            ASSERT_TRUE(found != kept.end()) << key;
        }
        if (found == kept.end()) {
            continue;
        }
        EXPECT_GE(found->second.weight, weight);
        EXPECT_LE(found->second.weight - found->second.error, weight);
    }
}

TEST(HeavyHitters, AreListedHeaviestFirst) {
    HeavyHitters heavy(3);
    heavy.add(1, "a", 5);
    heavy.add(2, "b", 9);
    heavy.add(3, "c", 7);
    const auto items = heavy.items();
    ASSERT_EQ(items.size(), 3u);
    EXPECT_EQ(items[0].key, "b");
    EXPECT_EQ(items[2].key, "a");
    EXPECT_EQ(items[0].error, 0);
}

}  // namespace
}  // namespace partita::insight
