#include "broker/partitioners/families.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "broker/partitioners/hashes.h"

namespace partita::partitioners {
namespace {

constexpr std::array<std::int32_t, 6> kCounts = {3, 4, 6, 7, 12, 16};
const std::array<std::string, 7> kKeys = {"", "a", "abc", "user-42", "order-1001", "kafka", "giberish123456789"};

using Placement = std::array<std::int32_t, 6>;

struct GoldenFamily {
    Family family;
    /// One per key of kKeys.
    std::array<Placement, 7> placements;
    /// Null when the vectors give only the partitions.
    std::optional<std::array<std::uint32_t, 7>> hashes;
};

// Taken from runs of the clients themselves.
const std::vector<GoldenFamily> kGolden = {
    {Family::murmur2_pos,
     {{{0, 1, 3, 2, 9, 9},
       {1, 0, 4, 5, 4, 12},
       {0, 3, 3, 4, 3, 11},
       {1, 0, 4, 1, 4, 12},
       {0, 2, 0, 1, 6, 6},
       {1, 0, 4, 3, 4, 4},
       {2, 0, 2, 5, 8, 12}}},
     {{0x106e08d9, 0xa2d0b27c, 0x1c94221b, 0x5700682c, 0x11bbdaa6, 0xd067cf64, 0x8f552b0c}}},
    {Family::murmur2_uns,
     {{{0, 1, 3, 2, 9, 9},
       {0, 0, 0, 0, 0, 12},
       {0, 3, 3, 4, 3, 11},
       {1, 0, 4, 1, 4, 12},
       {0, 2, 0, 1, 6, 6},
       {0, 0, 0, 5, 0, 4},
       {1, 0, 4, 0, 4, 12}}},
     {}},
    {Family::crc32_uns,
     {{{0, 0, 0, 0, 0, 0},
       {0, 3, 3, 4, 3, 3},
       {0, 2, 0, 5, 6, 2},
       {1, 3, 1, 1, 7, 3},
       {0, 1, 3, 4, 9, 9},
       {2, 3, 5, 6, 11, 7},
       {2, 3, 5, 2, 11, 15}}},
     {{0x00000000, 0xe8b7be43, 0x352441c2, 0x7d06b873, 0x0dc31a39, 0x5bbc7517, 0x7b3a8e3f}}},
    {Family::fnv1a_sabs,
     {{{0, 3, 3, 2, 3, 11},
       {0, 0, 0, 6, 0, 4},
       {2, 3, 5, 5, 11, 11},
       {0, 3, 3, 6, 3, 11},
       {0, 0, 0, 2, 0, 4},
       {2, 1, 5, 4, 5, 1},
       {2, 1, 5, 5, 5, 5}}},
     {{0x811c9dc5, 0xe40c292c, 0x1a47e90b, 0x026073ab, 0x916f3d8c, 0x0d33c4e1, 0x77a58295}}},
    {Family::fnv1a_pos,
     {{{2, 1, 5, 0, 5, 5},
       {2, 0, 2, 3, 8, 12},
       {2, 3, 5, 5, 11, 11},
       {0, 3, 3, 6, 3, 11},
       {2, 0, 2, 0, 8, 12},
       {2, 1, 5, 4, 5, 1},
       {2, 1, 5, 5, 5, 5}}},
     {}},
    {Family::fnv1a_uns,
     {{{1, 1, 1, 2, 1, 5},
       {1, 0, 4, 5, 4, 12},
       {2, 3, 5, 5, 11, 11},
       {0, 3, 3, 6, 3, 11},
       {1, 0, 4, 2, 4, 12},
       {2, 1, 5, 4, 5, 1},
       {2, 1, 5, 5, 5, 5}}},
     {}},
    {Family::kjs_legacy_pos,
     {{{0, 0, 0, 5, 0, 12},
       {1, 3, 1, 1, 7, 7},
       {2, 3, 5, 0, 11, 3},
       {2, 0, 2, 3, 8, 8},
       {1, 3, 1, 5, 7, 7},
       {1, 3, 1, 2, 7, 11},
       {0, 0, 0, 3, 0, 8}}},
     {{0x106e08dc, 0xcfba1f77, 0x5c210543, 0x274c04d8, 0x2ef381e7, 0x32158fab, 0xedcdef98}}},
    {Family::lookup3_sabs,
     {{{0, 0, 0, 0, 0, 0},
       {2, 0, 2, 1, 8, 12},
       {1, 1, 1, 0, 1, 1},
       {1, 3, 1, 5, 7, 11},
       {0, 2, 0, 0, 6, 10},
       {1, 3, 1, 0, 7, 11},
       {1, 3, 1, 0, 7, 15}}},
     {{0, static_cast<std::uint32_t>(-16220), static_cast<std::uint32_t>(-14161), 1867, 20202, 25291,
       static_cast<std::uint32_t>(-9247)}}},
    {Family::h31_uns,
     {{{1, 1, 1, 1, 1, 1},
       {1, 1, 1, 6, 1, 1},
       {0, 2, 0, 6, 6, 2},
       {1, 0, 4, 4, 4, 0},
       {2, 3, 5, 5, 11, 15},
       {0, 2, 0, 1, 6, 6},
       {}}},
     {}},
};

TEST(Families, PlaceKeysAsTheClientsDo) {
    for (const GoldenFamily& golden : kGolden) {
        // The list of kafka-node's vectors ends one key earlier.
        const std::size_t known = golden.family == Family::h31_uns ? 6 : kKeys.size();
        for (std::size_t k = 0; k < known; ++k) {
            for (std::size_t i = 0; i < kCounts.size(); ++i) {
                EXPECT_EQ(partition_of(golden.family, as_bytes(kKeys[k]), kCounts[i]).value, golden.placements[k][i])
                    << definition(golden.family).id << " '" << kKeys[k] << "' of " << kCounts[i];
            }
            if (golden.hashes) {
                EXPECT_EQ(hash_of(definition(golden.family).hash, as_bytes(kKeys[k])), (*golden.hashes)[k])
                    << definition(golden.family).id << " '" << kKeys[k] << "'";
            }
        }
    }
}

struct GoldenHash {
    std::string key;
    std::uint32_t hash;
    std::optional<Placement> placement;
};

void expect_golden(Family family, const std::vector<GoldenHash>& vectors) {
    for (const GoldenHash& vector : vectors) {
        EXPECT_EQ(hash_of(definition(family).hash, as_bytes(vector.key)), vector.hash) << vector.key;
        for (std::size_t i = 0; vector.placement && i < kCounts.size(); ++i) {
            EXPECT_EQ(partition_of(family, as_bytes(vector.key), kCounts[i]).value, (*vector.placement)[i]) << vector.key;
        }
    }
}

TEST(Families, PlaceKeysAsErlangsPhash2Does) {
    expect_golden(Family::phash2_uns, {{"", 13708901, {}},
                                       {"a", 112802447, {{2, 3, 5, 2, 11, 15}}},
                                       {"abc", 98228475, {{0, 3, 3, 2, 3, 11}}},
                                       {"user-42", 106851094, {{1, 2, 4, 0, 10, 6}}},
                                       {"order-1001", 55655227, {{1, 3, 1, 5, 7, 11}}},
                                       {"kafka", 33901341, {{0, 1, 3, 5, 9, 13}}},
                                       {"giberish123456789", 94556874, {{0, 2, 0, 6, 6, 10}}}});
}

TEST(Families, PlaceKeysAsKafkaRustDoes) {
    expect_golden(Family::xxh32_uns, {{"", 0x02cc5d05, {}},
                                      {"a", 0x550d7456, {{0, 2, 0, 3, 6, 6}}},
                                      {"abc", 0x32d153ff, {{0, 3, 3, 5, 3, 15}}},
                                      {"user-42", 0x61819a7e, {{2, 2, 2, 5, 2, 14}}},
                                      {"order-1001", 0x742b711f, {{0, 3, 3, 6, 3, 15}}},
                                      {"kafka", 0xde8ecbf5, {{2, 1, 5, 2, 5, 5}}},
                                      {"giberish123456789", 0x2226947d, {{0, 1, 3, 1, 9, 13}}}});
    expect_golden(Family::xxh64_uns, {{"a", 0xa98c6e5b, {{0, 3, 3, 0, 3, 11}}},
                                      {"abc", 0xad770999, {{1, 1, 1, 5, 1, 9}}},
                                      {"user-42", 0x76af7c81, {{0, 1, 3, 1, 9, 1}}},
                                      {"order-1001", 0x0bee9acc, {{1, 0, 4, 5, 4, 12}}},
                                      {"kafka", 0x6cb33e6b, {{0, 3, 3, 2, 3, 11}}},
                                      {"giberish123456789", 0x1d6200ad, {{0, 1, 3, 6, 9, 13}}}});
}

TEST(Families, BinaryKeysAreHashedAsTheyAre) {
    const std::string integer_one("\x00\x00\x00\x01", 4);
    const std::string long_one("\x00\x00\x00\x00\x00\x00\x00\x01", 8);
    const std::string ones("\xff\xff\xff\xff\xff", 5);
    expect_golden(Family::murmur2_pos, {{integer_one, static_cast<std::uint32_t>(-173113808), {{0, 0, 0, 2, 0, 0}}},
                                        {long_one, 2100486060, {{0, 0, 0, 1, 0, 12}}},
                                        {ones, static_cast<std::uint32_t>(-363838622), {{0, 2, 0, 2, 6, 2}}},
                                        {"żółć", 475252577, {{2, 1, 5, 2, 5, 1}}}});
    expect_golden(Family::crc32_uns, {{integer_one, 1447292810, {{2, 2, 2, 5, 2, 10}}}});
    expect_golden(Family::fnv1a_sabs, {{integer_one, 1251341186, {{2, 2, 2, 4, 2, 2}}},
                                       {long_one, static_cast<std::uint32_t>(-1696501806), {{0, 2, 0, 6, 6, 14}}}});
}

// org.apache.kafka.common.utils.UtilsTest.testMurmur2.
TEST(Murmur2, GivesTheValuesOfKafkasOwnTest) {
    expect_golden(Family::murmur2_pos, {{"21", static_cast<std::uint32_t>(-973932308), {}},
                                        {"foobar", static_cast<std::uint32_t>(-790332482), {}},
                                        {"a-little-bit-long-string", static_cast<std::uint32_t>(-985981536), {}},
                                        {"a-little-bit-longer-string", static_cast<std::uint32_t>(-1486304829), {}}});
}

// PartitionResolverTests.cs of the Azure SDK.
TEST(Lookup3, GivesTheValuesOfTheAzureSdksOwnTest) {
    expect_golden(Family::lookup3_sabs, {{"7", static_cast<std::uint32_t>(-15263), {}},
                                         {"131", 30562, {}},
                                         {"FWfAT", static_cast<std::uint32_t>(-22341), {}},
                                         {"$0cb", 26269, {}}});
}

// Node counts UTF-16 units: "é" is one, an emoji two, and each ill-formed sequence one U+FFFD.
TEST(H31, CountsUtf16UnitsOfTheText) {
    EXPECT_EQ(h31(as_bytes("\xC3\xA9")), 0xE9u);
    EXPECT_EQ(h31(as_bytes("\xF0\x9F\x98\x80")), 0xD83Du * 31 + 0xDE00u);
    EXPECT_EQ(h31(as_bytes("\xFF")), 0xFFFDu);
    EXPECT_EQ(h31(as_bytes("\xE2\x82")), 0xFFFDu);
    EXPECT_EQ(h31(as_bytes("\xED\xA0\x80")), (0xFFFDu * 31 + 0xFFFDu) * 31 + 0xFFFDu);
    EXPECT_EQ(h31(as_bytes(std::string_view("\0", 1))), 1u) << "0 becomes 1";
}

TEST(Families, WindowedKeysAreHashedWithoutTheirWindow) {
    const std::string base = "user-42";
    const PartitionIndex expected = partition_of(Family::murmur2_pos, as_bytes(base), 12);
    EXPECT_EQ(partition_of(Family::murmur2_pos_time_window, as_bytes(base + std::string(8, '\x01')), 12), expected);
    EXPECT_EQ(partition_of(Family::murmur2_pos_session_window, as_bytes(base + std::string(16, '\x01')), 12), expected);
}

TEST(Families, AWindowFamilyCannotHaveWrittenAKeyShorterThanItsWindow) {
    EXPECT_EQ(partition_of(Family::murmur2_pos_time_window, as_bytes("1234567"), 12), kNoPartition);
    EXPECT_NE(partition_of(Family::murmur2_pos_time_window, as_bytes("12345678"), 12), kNoPartition);
    EXPECT_FALSE(families_that_agree(as_bytes("1234567"), {0}, 1).contains(Family::murmur2_pos_time_window));
}

TEST(Families, LeastIntegerHasAPartitionUnderEveryRule) {
    constexpr std::uint32_t kLeast = 0x80000000;
    EXPECT_EQ(apply(Rule::positive, kLeast, 7), PartitionIndex{0});
    EXPECT_EQ(apply(Rule::unsigned_, kLeast, 7), PartitionIndex{2});
    EXPECT_EQ(apply(Rule::signed_absolute, kLeast, 7), PartitionIndex{2});
}

TEST(Families, IdsAreUniqueAndFound) {
    for (const FamilyDefinition& family : families()) {
        EXPECT_EQ(family_by_id(family.id), family.family);
    }
    EXPECT_EQ(family_by_id("murmur3-pos"), std::nullopt);
}

std::string random_key(std::mt19937_64& random) {
    std::string key(random() % 60, '\0');
    for (char& letter : key) {
        letter = static_cast<char>(random());
    }
    return key;
}

TEST(Families, AgreementFindsWhatEachFamilySaysAlone) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 2000; ++round) {
        const std::string key = random_key(random);
        const std::int32_t count = 1 + static_cast<std::int32_t>(random() % 100);
        const PartitionIndex partition{static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(count))};
        const FamilySet agreeing = families_that_agree(as_bytes(key), partition, count);
        for (const FamilyDefinition& family : families()) {
            EXPECT_EQ(agreeing.contains(family.family), partition_of(family.family, as_bytes(key), count) == partition);
        }
    }
}

// Equivalence must be the truth in both directions: no key tells equivalent families apart, some key tells others.
TEST(Families, EquivalentAreExactlyThoseThatNoKeyTellsApart) {
    std::mt19937_64 random(11);
    std::vector<std::string> keys;
    for (int i = 0; i < 400; ++i) {
        // Long enough for windows, so that these families place every key.
        keys.push_back(std::string(16, 'x') + random_key(random));
    }
    for (const std::int32_t count : {1, 2, 3, 4, 6, 7, 8, 12, 16, 50, 64}) {
        for (const FamilyDefinition& one : families()) {
            for (const FamilyDefinition& other : families()) {
                bool is_apart = false;
                for (const std::string& key : keys) {
                    is_apart |=
                        partition_of(one.family, as_bytes(key), count) != partition_of(other.family, as_bytes(key), count);
                }
                EXPECT_EQ(are_equivalent(one.family, other.family, count), !is_apart)
                    << one.id << " " << other.id << " at " << count;
            }
        }
    }
}

TEST(Families, JavaAndPlatformaticAgreeAtEightAndPartAtTwelve) {
    EXPECT_TRUE(are_equivalent(Family::murmur2_pos, Family::murmur2_uns, 8));
    EXPECT_FALSE(are_equivalent(Family::murmur2_pos, Family::murmur2_uns, 12));
    EXPECT_EQ(to_string(equivalence_class(Family::murmur2_pos, 8)), "murmur2-pos or murmur2-uns");
}

}  // namespace
}  // namespace partita::partitioners
