#include "broker/insight/keys/producer_evidence.h"
#include "broker/insight/keys/placement_odds.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace partita::insight {
namespace {

using partitioners::Family;
using partitioners::FamilySet;

using Counts = std::vector<std::int32_t>;
using Place = std::function<PartitionIndex(const std::string& key)>;

std::string random_key(std::mt19937_64& random) {
    // The key is long enough for the window families to be candidates.
    std::string key(16 + random() % 24, '\0');
    for (char& letter : key) {
        letter = static_cast<char>(random());
    }
    return key;
}

Place by_family(Family family, std::int32_t count) {
    return [=](const std::string& key) { return partitioners::partition_of(family, as_bytes(key), count); };
}

constexpr std::size_t kRecordBytes = 100;

/// A record that counts as a separate visit, as if others had been sent elsewhere since the last one.
CountProof observe(ProducerEvidence& evidence, const std::string& key, PartitionIndex partition) {
    static std::uint32_t visits = 0;
    return evidence.observe({.key = as_bytes(key),
                             .key_hash = std::hash<std::string>{}(key),
                             .partition = partition,
                             .size_bytes = kRecordBytes,
                             .visit = ++visits});
}

void produce(ProducerEvidence& evidence, std::mt19937_64& random, int keys, const Place& place) {
    for (int i = 0; i < keys; ++i) {
        const std::string key = random_key(random);
        observe(evidence, key, place(key));
    }
}

TEST(ProducerEvidence, EveryFamilyIsFoundWithItsClassAtEveryCount) {
    for (const std::int32_t count : {2, 3, 4, 6, 8, 12, 16, 50}) {
        for (const partitioners::FamilyDefinition& family : partitioners::families()) {
            std::mt19937_64 random(static_cast<std::uint64_t>(count) * 100 + static_cast<std::uint64_t>(family.family));
            ProducerEvidence evidence(Counts{count});
            produce(evidence, random, 120, by_family(family.family, count));
            const ProducerVerdict verdict = evidence.verdict();
            EXPECT_EQ(verdict.habit, KeyHabit::hashes) << family.id << " at " << count;
            EXPECT_EQ(verdict.families, partitioners::equivalence_class(family.family, count)) << family.id << " at " << count;
            EXPECT_EQ(verdict.agreeing_keys, verdict.keys);
        }
    }
}

// The promise of the head comment, over many seeds: the true family always survives, and every declaration is true. The test
// decides on as few keys as possible.
TEST(ProducerEvidence, NeverDeclaresAnythingButTheTruth) {
    int declared = 0;
    int undecided_at_forty = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        std::mt19937_64 random(seed);
        const auto truth = static_cast<Family>(random() % partitioners::kFamilyCount);
        const std::int32_t count = 2 + static_cast<std::int32_t>(random() % 30);
        ProducerEvidence evidence(Counts{count});
        for (int key = 0; key < 80; ++key) {
            produce(evidence, random, 1, by_family(truth, count));
            const ProducerVerdict verdict = evidence.verdict();
            ASSERT_TRUE(verdict.families.contains(truth)) << seed;
            if (verdict.habit == KeyHabit::hashes) {
                ASSERT_GE(verdict.keys, ProducerEvidence::kKeysToDecide);
                ASSERT_EQ(verdict.families, partitioners::equivalence_class(truth, count)) << seed;
                ++declared;
            }
            undecided_at_forty += verdict.keys == 40 && verdict.habit != KeyHabit::hashes;
        }
    }
    EXPECT_GT(declared, 400 * 35);
    EXPECT_LE(undecided_at_forty, 1);
}

// False positives: a producer whose partition has nothing to do with any family must never be given one.
TEST(ProducerEvidence, RandomPlacementIsNeverTakenForAFamily) {
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        std::mt19937_64 random(seed);
        const std::int32_t count = 2 + static_cast<std::int32_t>(seed % 12);
        ProducerEvidence evidence(Counts{count});
        for (int i = 0; i < 150; ++i) {
            const std::string key = random_key(random);
            observe(evidence, key, {static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(count))});
            const KeyHabit habit = evidence.verdict().habit;
            ASSERT_TRUE(habit == KeyHabit::undecided || habit == KeyHabit::unknown) << seed;
        }
        EXPECT_TRUE(evidence.known_families().is_empty());
    }
}

TEST(ProducerEvidence, OnePartitionTellsNothing) {
    std::mt19937_64 random(1);
    ProducerEvidence evidence(Counts{1});
    produce(evidence, random, 500, by_family(Family::murmur2_pos, 1));
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::undecided);
    EXPECT_EQ(evidence.verdict().keys, 0);
}

TEST(ProducerEvidence, AFewExplicitPartitionsDoNotHideTheTruth) {
    std::mt19937_64 random(2);
    ProducerEvidence evidence(Counts{6});
    produce(evidence, random, 100, by_family(Family::crc32_uns, 6));
    produce(evidence, random, 1, [&](const std::string& key) {
        return PartitionIndex{(partitioners::partition_of(Family::crc32_uns, as_bytes(key), 6).value + 1) % 6};
    });
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::hashes);
    EXPECT_EQ(evidence.verdict().agreeing_keys, 100);
    EXPECT_EQ(evidence.verdict().keys, 101);
}

TEST(ProducerEvidence, OneThatLearnsTheNewCountBeforeItIsKnownDoesNotIgnoreKeys) {
    for (const partitioners::Family family : {Family::murmur2_pos, Family::crc32_uns, Family::fnv1a_sabs}) {
        std::mt19937_64 random(11);
        std::vector<std::string> keys;
        for (int i = 0; i < 35; ++i) {
            keys.push_back(random_key(random));
        }
        ProducerEvidence evidence(Counts{6, 3});
        for (const std::string& key : keys) {
            observe(evidence, key, by_family(family, 3)(key));
        }
        for (const std::string& key : keys) {
            observe(evidence, key, by_family(family, 6)(key));
        }
        // No evidence was kept when its keys moved; further keys show what the producer does.
        produce(evidence, random, 20, by_family(family, 6));
        EXPECT_EQ(evidence.verdict().habit, KeyHabit::hashes);
    }
}

TEST(ProducerEvidence, RoundRobinOverRepeatedKeysIgnoresKeysAlsoAfterAGrowth) {
    std::mt19937_64 random(5);
    std::vector<std::string> keys;
    for (int i = 0; i < 60; ++i) {
        keys.push_back(random_key(random));
    }
    for (const std::int32_t count : {4, 6, 12}) {
        ProducerEvidence evidence(Counts{count, count / 2});
        std::int32_t next = 0;
        for (int i = 0; i < 600; ++i) {
            observe(evidence, keys[random() % keys.size()], {next++ % count});
        }
        EXPECT_EQ(evidence.verdict().habit, KeyHabit::ignores_keys) << count;
    }
}

TEST(ProducerEvidence, RoundRobinOverRepeatedKeysIgnoresKeys) {
    std::mt19937_64 random(3);
    std::vector<std::string> keys;
    for (int i = 0; i < 60; ++i) {
        keys.push_back(random_key(random));
    }
    for (const std::int32_t count : {2, 3, 12}) {
        ProducerEvidence evidence(Counts{count});
        std::int32_t next = 0;
        for (int i = 0; i < 600; ++i) {
            observe(evidence, keys[random() % keys.size()], {next++ % count});
        }
        EXPECT_EQ(evidence.verdict().habit, KeyHabit::ignores_keys) << count;
        EXPECT_TRUE(evidence.known_families().is_empty());
    }
}

TEST(ProducerEvidence, KeysThatNeverComeTwiceLeaveItUnknownWhetherTheyDecide) {
    std::mt19937_64 random(4);
    ProducerEvidence evidence(Counts{3});
    std::int32_t next = 0;
    produce(evidence, random, 200, [&](const std::string&) { return PartitionIndex{next++ % 3}; });
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::unknown);
}

TEST(ProducerEvidence, AFixedPartitionIsNamed) {
    std::mt19937_64 random(5);
    ProducerEvidence evidence(Counts{6});
    produce(evidence, random, 100, [](const std::string&) { return PartitionIndex{4}; });
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::one_partition);
}

// The smallest number of bytes that is no chance at 6 partitions: 13 times what a sticky client sends to one partition.
constexpr std::int64_t kStayAtSixBytes = 13 * kStickyBytesMax;

TEST(ProducerEvidence, AFixedPartitionIsCalledChosenOnceNoStickyClientWouldHaveStayed) {
    std::mt19937_64 random(5);
    ProducerEvidence evidence(Counts{6});
    std::int64_t sent = 0;
    std::uint32_t number = 0;
    while (sent < kStayAtSixBytes + kStickyBytesMax) {
        const std::string key = "key-" + std::to_string(number++);
        constexpr std::size_t kLargeBytes = 100'000;
        evidence.observe({.key = as_bytes(key), .key_hash = number, .partition = {4}, .size_bytes = kLargeBytes, .visit = 1});
        sent += kLargeBytes;
        if (number >= 100 && sent < kStayAtSixBytes) {
            ASSERT_EQ(evidence.verdict().habit, KeyHabit::one_partition) << sent;
        }
    }
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::explicit_or_custom);
    observe(evidence, "elsewhere", {3});
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::unknown) << "it has left";
}

TEST(ProducerEvidence, KeysThatKeepPartitionsNobodyKnowsAreCalledChosen) {
    for (const std::int32_t count : {2, 3, 6, 12}) {
        ProducerEvidence evidence(Counts{count});
        const auto send_all = [&] {
            for (int i = 0; i < 60; ++i) {
                observe(evidence, "key-" + std::to_string(i), {i % 2});
            }
        };
        send_all();
        EXPECT_EQ(evidence.verdict().habit, KeyHabit::unknown) << "no key came again: it may be chance";
        send_all();
        EXPECT_EQ(evidence.verdict().habit, KeyHabit::explicit_or_custom) << count;
        EXPECT_TRUE(evidence.known_families().is_empty());
    }
}

// A producer that ignores keys and stays with a partition for a while puts a key that soon comes again where it was.
TEST(ProducerEvidence, KeysThatComeAgainWithinOneVisitAreNotCalledChosen) {
    std::mt19937_64 random(14);
    ProducerEvidence evidence(Counts{6});
    std::uint32_t visit = 0;
    for (int i = 0; i < 100; ++i) {
        ++visit;
        const PartitionIndex partition{static_cast<std::int32_t>(random() % 6)};
        const std::string key = "key-" + std::to_string(i);
        for (int again = 0; again < 5; ++again) {
            evidence.observe({.key = as_bytes(key),
                              .key_hash = std::hash<std::string>{}(key),
                              .partition = partition,
                              .size_bytes = kRecordBytes,
                              .visit = visit});
        }
    }
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::unknown);
}

// The stated bound: a producer that ignores keys is never declared to choose.
TEST(ProducerEvidence, ProducersThatIgnoreKeysAreNeverCalledChoosing) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        std::mt19937_64 random(seed);
        const std::int32_t count = 2 + static_cast<std::int32_t>(seed % 12);
        const std::uint64_t keys = 40 + random() % 100;
        const std::uint64_t records_in_a_visit = 1 + random() % 50;
        // Some producers prefer a partition, as clients do that look at the queue of each.
        const std::uint64_t favours = seed % 3;
        ProducerEvidence evidence(Counts{count});
        PartitionIndex partition;
        std::uint32_t visit = 0;
        for (std::uint64_t i = 0; i < 1500; ++i) {
            if (i % records_in_a_visit == 0) {
                const bool is_favourite = favours > 0 && random() % (favours + 1) > 0;
                const PartitionIndex drawn{
                    is_favourite ? 0 : static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(count))};
                visit += drawn == partition ? 0 : 1;
                partition = drawn;
            }
            const std::string key = "key-" + std::to_string(random() % keys);
            evidence.observe({.key = as_bytes(key),
                              .key_hash = std::hash<std::string>{}(key),
                              .partition = partition,
                              .size_bytes = kRecordBytes,
                              .visit = visit});
            ASSERT_FALSE(evidence.verdict().habit == KeyHabit::explicit_or_custom) << seed << " at " << i;
        }
    }
}

TEST(ProducerEvidence, RecordsWithoutKeysInOnePartitionAreNamedBeyondChance) {
    ProducerEvidence evidence(Counts{6});
    evidence.observe_keyless({2}, kStayAtSixBytes - kStickyBytesMax);
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::no_keys);
    evidence.observe_keyless({2}, 2 * kStickyBytesMax);
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::keyless_one_partition);
    evidence.observe_keyless({3}, kRecordBytes);
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::no_keys);
}

// A producer that still knows one partition has no choice.
TEST(ProducerEvidence, WhoKnowsOnlyOnePartitionIsNotCalledChoosing) {
    ProducerEvidence evidence(Counts{6, 1});
    evidence.observe_keyless({0}, 100 * kStickyBytesMax);
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::no_keys);
    evidence.observe_keyless({1}, 100 * kStickyBytesMax);
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::keyless_one_partition);
}

TEST(ProducerEvidence, TwoProgramsBehindOneNameAreMixed) {
    std::mt19937_64 random(6);
    ProducerEvidence evidence(Counts{12});
    for (int i = 0; i < 100; ++i) {
        produce(evidence, random, 1, by_family(Family::murmur2_pos, 12));
        produce(evidence, random, 1, by_family(Family::crc32_uns, 12));
    }
    const ProducerVerdict verdict = evidence.verdict();
    EXPECT_EQ(verdict.habit, KeyHabit::mixed);
    const FamilySet both = verdict.families | verdict.second_families;
    EXPECT_TRUE(both.contains(Family::murmur2_pos) && both.contains(Family::crc32_uns));
    EXPECT_EQ(both.count(), 2);
}

TEST(ProducerEvidence, RecordsWithoutKeysAreNoEvidence) {
    ProducerEvidence evidence(Counts{6});
    evidence.observe_keyless({0}, kRecordBytes);
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::no_keys);
    EXPECT_EQ(evidence.keyless_records(), 1);
}

TEST(ProducerEvidence, AChangeOfPartitionerIsNoticedAsOldKeysAreForgotten) {
    std::mt19937_64 random(7);
    ProducerEvidence evidence(Counts{6});
    produce(evidence, random, 300, by_family(Family::murmur2_pos, 6));
    produce(evidence, random, 220, by_family(Family::fnv1a_sabs, 6));
    EXPECT_EQ(evidence.verdict().families, FamilySet::of(Family::fnv1a_sabs));
    EXPECT_EQ(evidence.known_families(), FamilySet::of(Family::fnv1a_sabs));
}

// The proof of H04: with a known partitioner each record that moves tells which count its producer uses.
TEST(ProducerEvidence, MovedKeysProveTheCountAndStayingOnesProveNothing) {
    std::mt19937_64 random(8);
    ProducerEvidence evidence(Counts{6});
    produce(evidence, random, 60, by_family(Family::murmur2_pos, 6));
    evidence.expand(Counts{8, 6});
    for (int i = 0; i < 300; ++i) {
        const std::string key = random_key(random);
        const PartitionIndex old = partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 6);
        const PartitionIndex now = partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 8);
        EXPECT_EQ(observe(evidence, key, old), old == now ? CountProof::none : CountProof::old_count);
        EXPECT_EQ(observe(evidence, key, now), old == now ? CountProof::none : CountProof::new_count);
    }
}

TEST(ProducerEvidence, AnExplicitPartitionProvesNeitherCount) {
    std::mt19937_64 random(9);
    ProducerEvidence evidence(Counts{6});
    produce(evidence, random, 60, by_family(Family::murmur2_pos, 6));
    evidence.expand(Counts{12, 6});
    for (int i = 0; i < 100; ++i) {
        const std::string key = random_key(random);
        const PartitionIndex old = partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 6);
        const PartitionIndex now = partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 12);
        const PartitionIndex other{(now.value + 1) % 12};
        if (other != old) {
            EXPECT_EQ(observe(evidence, key, other), CountProof::none);
        }
    }
}

// At 8 Java and @platformatic/kafka cannot be told apart; a record proves something only when both agree about it.
TEST(ProducerEvidence, AClassThatPartsAtTheNewCountProvesOnlyWhatAllOfItSay) {
    std::mt19937_64 random(10);
    ProducerEvidence evidence(Counts{8});
    produce(evidence, random, 60, by_family(Family::murmur2_uns, 8));
    EXPECT_EQ(evidence.known_families().count(), 2);
    evidence.expand(Counts{12, 8});
    for (int i = 0; i < 200; ++i) {
        const std::string key = random_key(random);
        const PartitionIndex old = partitioners::partition_of(Family::murmur2_uns, as_bytes(key), 8);
        const PartitionIndex now = partitioners::partition_of(Family::murmur2_uns, as_bytes(key), 12);
        const PartitionIndex sibling = partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 12);
        const CountProof proof = observe(evidence, key, now);
        EXPECT_EQ(proof, now == old ? CountProof::none : CountProof::new_count);
        if (old != now && old == sibling && evidence.known_families().count() == 2) {
            ProducerEvidence stale = evidence;
            EXPECT_EQ(observe(stale, key, old), CountProof::none) << "the sibling stays where it was";
        }
    }
    EXPECT_EQ(evidence.known_families(), FamilySet::of(Family::murmur2_uns)) << "twelve partitions tell them apart";
}

TEST(ProducerEvidence, AProducerThatLearnsTheNewCountDoesNotScatterItsKeys) {
    std::mt19937_64 random(13);
    std::vector<std::string> keys;
    for (int i = 0; i < 60; ++i) {
        keys.push_back(random_key(random));
    }
    ProducerEvidence evidence(Counts{6});
    const auto produce_all = [&](std::int32_t count) {
        for (const std::string& key : keys) {
            observe(evidence, key, partitioners::partition_of(Family::murmur2_pos, as_bytes(key), count));
        }
    };
    produce_all(6);
    evidence.expand(Counts{12, 6});
    produce_all(6);
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::hashes_old_count);
    produce_all(12);
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::hashes);
    EXPECT_EQ(evidence.verdict().agreeing_keys, 60);
}

TEST(ProducerEvidence, AProducerThatWasNeverKnownIsFoundAtTheOldCount) {
    std::mt19937_64 random(11);
    ProducerEvidence evidence(Counts{12, 6});
    produce(evidence, random, 60, by_family(Family::fnv1a_sabs, 6));
    const ProducerVerdict verdict = evidence.verdict();
    EXPECT_EQ(verdict.habit, KeyHabit::hashes_old_count);
    EXPECT_EQ(verdict.count, 6);
    EXPECT_EQ(verdict.families, FamilySet::of(Family::fnv1a_sabs));
}

TEST(ProducerEvidence, OldCountsBeyondTheLimitAreNotTried) {
    std::mt19937_64 random(12);
    ProducerEvidence evidence(Counts{13, 11, 7, 5, 3});
    produce(evidence, random, 100, by_family(Family::murmur2_pos, 5));
    EXPECT_EQ(evidence.verdict().habit, KeyHabit::hashes_old_count);
    ProducerEvidence older(Counts{13, 11, 7, 5, 3});
    produce(older, random, 100, by_family(Family::murmur2_pos, 3));
    EXPECT_EQ(older.verdict().habit, KeyHabit::unknown);
}

}  // namespace
}  // namespace partita::insight
