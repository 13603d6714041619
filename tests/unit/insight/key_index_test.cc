#include "broker/insight/keys/key_index.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace partita::insight {
namespace {

/// SplitMix64: spreads numbers over 64 bits.
std::uint64_t spread(std::uint64_t number) {
    number += 0x9e3779b97f4a7c15;
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
    number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
    return number ^ (number >> 31);
}

void add(KeyIndex& index, std::uint64_t key, std::int32_t partition, std::int64_t offset, bool is_tombstone = false,
         std::int32_t epoch = 0, std::size_t size_bytes = 10) {
    const std::string text = "key-" + std::to_string(key);
    index.add({.key = as_bytes(text),
               .key_hash = spread(key),
               .partition = {partition},
               .epoch = epoch,
               .offset = {offset},
               .size_bytes = size_bytes,
               .is_tombstone = is_tombstone});
}

TEST(KeyIndex, RemembersFirstAndLastRecordOfAKeyInEachPartition) {
    KeyIndex index(100);
    add(index, 1, 3, 10);
    add(index, 1, 3, 20);
    add(index, 1, 9, 5, true, 1);
    const IndexedKey* key = index.find(spread(1));
    ASSERT_NE(key, nullptr);
    EXPECT_EQ(key->key, "key-1");
    ASSERT_EQ(key->placements.size(), 2u);
    EXPECT_EQ(key->placements[0].first, Offset{10});
    EXPECT_EQ(key->placements[0].last, Offset{20});
    EXPECT_EQ(key->placements[0].records, 2);
    EXPECT_FALSE(key->placements[0].is_tombstone);
    EXPECT_TRUE(key->placements[1].is_tombstone);
    EXPECT_EQ(key->placements[1].epoch, 1);
    EXPECT_LT(key->placements[0].last_seen, key->placements[1].last_seen);
}

TEST(KeyIndex, IsExactUpToItsLimit) {
    KeyIndex index(1000);
    for (std::uint64_t key = 0; key < 1000; ++key) {
        add(index, key, static_cast<std::int32_t>(key % 4), 0);
    }
    EXPECT_TRUE(index.is_complete());
    EXPECT_EQ(index.distinct_keys(), 1000);
    EXPECT_EQ(index.distinct_keys_by_partition(4)[1], 250);
}

TEST(KeyIndex, BeyondItsLimitItHoldsASampleAndEstimates) {
    constexpr std::size_t kLimit = 4096;
    constexpr std::int64_t kKeys = 300'000;
    KeyIndex index(kLimit);
    for (std::uint64_t key = 0; key < kKeys; ++key) {
        add(index, key, static_cast<std::int32_t>(key % 4), 0);
        ASSERT_LE(index.keys().size(), kLimit);
    }
    EXPECT_FALSE(index.is_complete());
    EXPECT_GE(index.sampling(), 64);
    // Four standard deviations of a sample of about 3000.
    const double error = 4 / std::sqrt(static_cast<double>(index.keys().size()));
    EXPECT_NEAR(static_cast<double>(index.distinct_keys()), kKeys, kKeys * error);
    EXPECT_NEAR(static_cast<double>(index.distinct_keys_by_partition(4)[2]), kKeys / 4.0, kKeys / 4.0 * 2 * error);
}

// Statements about a kept key must be exact: the index never left it out for a while.
TEST(KeyIndex, AKeptKeyIsThereWithAllItsRecords) {
    KeyIndex index(64);
    for (int round = 0; round < 5; ++round) {
        for (std::uint64_t key = 0; key < 1000; ++key) {
            add(index, key, 0, round);
        }
    }
    ASSERT_FALSE(index.keys().empty());
    for (const auto& [hash, key] : index.keys()) {
        EXPECT_EQ(key.placements[0].records, 5);
        EXPECT_EQ(key.placements[0].first, Offset{0});
    }
}

TEST(KeyIndex, AKeyInMorePartitionsThanTheLimitForgetsTheOneUsedLongestAgo) {
    KeyIndex index(10);
    for (std::int32_t partition = 0; partition < 6; ++partition) {
        add(index, 1, partition, 0);
    }
    const auto& placements = index.find(spread(1))->placements;
    ASSERT_EQ(placements.size(), KeyIndex::kPlacementsMax);
    EXPECT_EQ(placements.front().partition, PartitionIndex{2});
    EXPECT_EQ(placements.back().partition, PartitionIndex{5});
}

TEST(KeyIndex, RemembersTheFirstAndTheNewestStepOfAKeyBetweenTwoPartitions) {
    KeyIndex index(10);
    add(index, 1, 0, 95);
    add(index, 2, 0, 96);
    add(index, 1, 0, 120, false, 1);
    add(index, 1, 6, 3, false, 1);
    for (std::int64_t offset = 130; offset < 140; ++offset) {
        add(index, 1, 0, offset, false, 1);
        add(index, 1, 6, offset, false, 1);
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> forward;
    index.for_each_moved([&](const IndexedKey& key, std::span<const KeyStep> steps) {
        EXPECT_EQ(key.key, "key-1") << "the other key never moved";
        for (const KeyStep& step : steps) {
            EXPECT_EQ(step.is_with_growth, step.to == PartitionIndex{6}) << "in the old partition it was before the growth";
            if (step.to == PartitionIndex{6}) {
                forward.emplace_back(step.earlier.value, step.later.value);
            }
        }
    });
    EXPECT_EQ(forward, (std::vector<std::pair<std::int64_t, std::int64_t>>{{120, 3}, {139, 139}}));
}

TEST(KeyIndex, StepsOfAKeyAreBounded) {
    KeyIndex index(10);
    for (std::int32_t record = 0; record < 1000; ++record) {
        add(index, 1, (record * 7 + record / 5) % 31, record, false, 1);
    }
    std::size_t keys = 0;
    index.for_each_moved([&](const IndexedKey&, std::span<const KeyStep> steps) {
        ++keys;
        EXPECT_EQ(steps.size(), KeyIndex::kStepsMax);
    });
    EXPECT_EQ(keys, 1u);
}

TEST(KeyIndex, RemembersWhereAKeyLayInOneEpochWhenALaterOneWritesOverIt) {
    KeyIndex index(10);
    add(index, 1, 0, 10);
    add(index, 1, 3, 20);
    EXPECT_TRUE(index.past(spread(1)).empty()) << "its placements tell it";
    add(index, 1, 3, 30, false, 1);
    add(index, 1, 0, 40, false, 2);
    const auto past = index.past(spread(1));
    ASSERT_EQ(past.size(), 2U);
    EXPECT_EQ(past[0].epoch, 0);
    EXPECT_EQ(past[0].partition, PartitionIndex{0});
    EXPECT_EQ(past[0].last, Offset{10});
    EXPECT_EQ(past[1].partition, PartitionIndex{3});
    EXPECT_EQ(past[1].last, Offset{20});
    EXPECT_TRUE(index.has_whole_past());
    // A key that lay in only one partition leaves nothing behind.
    add(index, 2, 0, 50);
    add(index, 2, 0, 60, false, 1);
    EXPECT_TRUE(index.past(spread(2)).empty());
}

TEST(KeyIndex, ThePastOfAKeyIsBoundedAndSaysThatItIsNotWhole) {
    KeyIndex index(10);
    for (std::int32_t epoch = 0; epoch < 8; ++epoch) {
        add(index, 1, 0, 2 * epoch, false, epoch);
        add(index, 1, 1, 2 * epoch + 1, false, epoch);
    }
    const auto past = index.past(spread(1));
    EXPECT_EQ(past.size(), KeyIndex::kPastMax);
    EXPECT_EQ(past.back().epoch, 6);
    EXPECT_FALSE(index.has_whole_past());
}

TEST(KeyIndex, APlacementThatMakesRoomIsPastWhereTheOthersDoNotTellOfItsEpoch) {
    KeyIndex index(10);
    add(index, 1, 0, 1);
    add(index, 1, 1, 2);
    for (std::int32_t partition = 2; partition < 5; ++partition) {
        add(index, 1, partition, 3, false, 1);
    }
    ASSERT_EQ(index.past(spread(1)).size(), 2U);
    EXPECT_EQ(index.past(spread(1))[0].partition, PartitionIndex{0});
    EXPECT_EQ(index.past(spread(1))[1].partition, PartitionIndex{1});
    EXPECT_TRUE(index.has_whole_past());
}

TEST(KeyIndex, LongKeysAreCountedAndNotKept) {
    KeyIndex index(10);
    const std::string key(KeyIndex::kKeyBytesMax + 1, 'k');
    index.add({.key = as_bytes(key), .key_hash = 1, .size_bytes = 1000});
    EXPECT_EQ(index.distinct_keys(), 0);
    EXPECT_EQ(index.long_keys(), 1);
    EXPECT_FALSE(index.is_complete());
}

TEST(KeyIndex, HeavyKeysAreFoundAmongMany) {
    KeyIndex index(100);
    for (std::uint64_t i = 0; i < 50'000; ++i) {
        add(index, 1000 + i, 0, 0);
        if (i % 10 == 0) {
            add(index, 7, 0, 0, false, 0, 100);
        }
    }
    ASSERT_FALSE(index.heavy_keys().empty());
    const HeavyHitters::Item hot = index.heavy_keys().front();
    EXPECT_EQ(hot.key, "key-7");
    EXPECT_GE(hot.weight, 500'000);
    EXPECT_LE(hot.weight - hot.error, 500'000);
}

}  // namespace
}  // namespace partita::insight
