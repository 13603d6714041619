#include "broker/insight/plan/plan_protection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "broker/insight/plan/plan_json.h"
#include "broker/partitioners/families.h"

namespace partita::insight {
namespace {

using partitioners::Family;
using ::testing::HasSubstr;

/// A log in memory, and a plan of it made as the program does.
class World {
  public:
    World(std::int32_t from, std::int32_t to) {
        facts.name = "orders";
        facts.old_count = from;
        facts.new_count = to;
        facts.partitions.resize(static_cast<std::size_t>(from));
        facts.is_history_known = true;
        facts.retention_ms = 3'600'000;
    }

    struct Record {
        std::int32_t partition;
        std::optional<std::string> key;
        std::size_t size;
        bool has_value;
        std::int64_t offset;
    };

    void append(std::int32_t partition, std::optional<std::string> key, std::size_t size = 10, bool has_value = true) {
        Offset& end = facts.partitions[static_cast<std::size_t>(partition)].log_end;
        records.push_back({partition, std::move(key), size, has_value, end.value});
        end = end + 1;
    }
    void produce(const std::string& key, Family family = Family::murmur2_pos, std::size_t size = 10, bool has_value = true) {
        append(partitioners::partition_of(family, as_bytes(key), facts.old_count).value, key, size, has_value);
    }

    GroupFacts& group(const std::string& id, std::vector<std::int64_t> committed = {}) {
        GroupFacts& group = facts.groups.emplace_back();
        group.group_id = id;
        group.protocol_type = "consumer";
        for (const std::int64_t offset : committed) {
            group.committed.push_back(Offset{offset});
        }
        return group;
    }

    KeyCensus& scan(std::optional<Family> family, KeyTable::Limits limits = {}) {
        CensusOptions options{.old_count = facts.old_count, .new_count = facts.new_count, .family = family};
        options.limits = limits;
        options.group_count = facts.groups.size();
        options.positions.resize(facts.partitions.size());
        for (std::size_t index = 0; index < facts.groups.size(); ++index) {
            for (std::size_t partition = 0; partition < facts.groups[index].committed.size(); ++partition) {
                options.positions[partition].push_back({facts.groups[index].committed[partition], index});
            }
        }
        census = std::make_unique<KeyCensus>(std::move(options));
        scanned = {.is_complete = true};
        for (const Record& record : records) {
            census->add({.partition = PartitionIndex{record.partition},
                         .offset = Offset{record.offset},
                         .key = record.key ? std::optional(as_bytes(*record.key)) : std::nullopt,
                         .size_bytes = record.size,
                         .has_value = record.has_value});
            ++scanned.records;
            scanned.bytes += static_cast<std::int64_t>(record.size);
        }
        return *census;
    }

    Plan plan() {
        scan(std::nullopt);
        const std::vector<std::int32_t> counts{facts.old_count};
        const PlacementEvidence evidence = judge_placements(census->keys(), counts);
        if (evidence.has_family()) {
            scan(evidence.family);
        }
        return make_plan(facts, *census, evidence, scanned);
    }

    PlannedTopic facts;
    std::vector<Record> records;
    std::unique_ptr<KeyCensus> census;
    ScanFacts scanned;
};

const Finding* find(const Plan& plan, HazardId id) {
    const auto found = std::ranges::find(plan.findings, id, &Finding::id);
    return found == plan.findings.end() ? nullptr : &*found;
}

World random_world(std::int32_t from, std::int32_t to, std::uint64_t seed, Family family = Family::murmur2_pos) {
    World world(from, to);
    std::mt19937_64 random(seed);
    for (int index = 0; index < 4000; ++index) {
        world.produce("key-" + std::to_string(random() % 700), family, 1 + random() % 90);
    }
    return world;
}

TEST(Plan, EqualsBruteForceOnRandomLogs) {
    std::uint64_t seed = 0;
    for (const auto& [from, to] :
         std::vector<std::pair<int, int>>{{6, 12}, {6, 8}, {1, 4}, {3, 4}, {8, 12}, {12, 13}, {2, 100}}) {
        World world = random_world(from, to, ++seed);
        std::mt19937_64 random(seed + 100);
        std::vector<std::int64_t> committed;
        for (const PartitionFacts& partition : world.facts.partitions) {
            committed.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(partition.log_end.value + 1)));
        }
        world.group("g", committed);
        const KeyCensus& census = world.scan(Family::murmur2_pos);
        PlacementEvidence evidence{.kind = PlacementKind::given, .family = Family::murmur2_pos};
        const Plan plan = make_plan(world.facts, census, evidence, world.scanned);

        std::set<std::string> keys;
        std::set<std::string> moved_keys;
        std::int64_t moved_records = 0;
        std::int64_t moved_bytes = 0;
        std::int64_t backlog = 0;
        std::map<int, std::int64_t> in;
        std::map<int, std::int64_t> out;
        for (const World::Record& record : world.records) {
            keys.insert(*record.key);
            const int now = partitioners::partition_of(Family::murmur2_pos, as_bytes(*record.key), from).value;
            const int then = partitioners::partition_of(Family::murmur2_pos, as_bytes(*record.key), to).value;
            if (now == then) {
                continue;
            }
            moved_keys.insert(*record.key);
            ++moved_records;
            moved_bytes += static_cast<std::int64_t>(record.size);
            ++in[then];
            ++out[now];
            if (record.offset >= committed[static_cast<std::size_t>(record.partition)]) {
                ++backlog;
            }
        }
        ASSERT_TRUE(plan.moved.has_value());
        EXPECT_EQ(plan.distinct_keys, static_cast<std::int64_t>(keys.size()));
        EXPECT_EQ(plan.moved->keys, static_cast<std::int64_t>(moved_keys.size()));
        EXPECT_EQ(plan.moved->records, moved_records);
        EXPECT_EQ(plan.moved->bytes, moved_bytes);
        EXPECT_EQ(plan.groups.at(0).moved_backlog, backlog);
        for (const PlannedPartition& partition : plan.partitions) {
            EXPECT_EQ(partition.counts.records_in, in[partition.partition.value]);
            EXPECT_EQ(partition.counts.records_out, out[partition.partition.value]);
        }
    }
}

TEST(Plan, MultipleOfTheOldCountMovesNoKeyBetweenOldPartitions) {
    for (std::int32_t from = 1; from <= 12; ++from) {
        for (std::int32_t factor = 2; factor <= 4; ++factor) {
            World world = random_world(from, from * factor, static_cast<std::uint64_t>(from * 10 + factor));
            world.scan(Family::murmur2_pos);
            EXPECT_EQ(world.census->moved().records_among_old, 0) << from << " to " << from * factor;
        }
    }
}

TEST(Plan, FindsEachFamilyFromItsPlacements) {
    for (const partitioners::FamilyDefinition& family : partitioners::families()) {
        if (family.hash == partitioners::Hash::murmur2_time_window || family.hash == partitioners::Hash::murmur2_session_window) {
            continue;
        }
        const Plan plan = random_world(7, 14, 5, family.family).plan();
        EXPECT_EQ(plan.partitioner, family.id) << plan.partitioner_explained;
        EXPECT_TRUE(plan.moved.has_value());
    }
}

TEST(Plan, SaysWhenFamiliesPartAtTheNewCount) {
    const Plan parting = random_world(8, 12, 1).plan();
    EXPECT_EQ(parting.partitioner, "murmur2-pos");
    EXPECT_THAT(parting.partitioner_explained, HasSubstr("at 12 they differ"));
    ASSERT_NE(find(parting, HazardId::mixed_partitioners), nullptr);
    EXPECT_EQ(find(parting, HazardId::mixed_partitioners)->severity, Severity::warn);
    const Plan together = random_world(8, 16, 1).plan();
    EXPECT_THAT(together.partitioner_explained, HasSubstr("not at 16 either"));
    EXPECT_EQ(find(together, HazardId::mixed_partitioners), nullptr);
}

TEST(Plan, NamesTwoPartitionersAndInventsNoNumbers) {
    World world(6, 12);
    for (int index = 0; index < 600; ++index) {
        world.produce("key-" + std::to_string(index), index % 3 == 0 ? Family::crc32_uns : Family::murmur2_pos);
    }
    const Plan plan = world.plan();
    EXPECT_EQ(plan.partitioner, "mixed");
    EXPECT_EQ(plan.moved, std::nullopt);
    EXPECT_EQ(plan.verdict, Verdict::blocked);
    ASSERT_NE(find(plan, HazardId::mixed_partitioners), nullptr);
    EXPECT_THAT(find(plan, HazardId::mixed_partitioners)->condition, HasSubstr("crc32-uns"));
}

TEST(Plan, RandomPlacementOfKeysIsKeysIgnored) {
    World world(6, 12);
    std::mt19937_64 random(1);
    for (int index = 0; index < 3000; ++index) {
        world.append(static_cast<int>(random() % 6), "key-" + std::to_string(random() % 200));
    }
    const Plan plan = world.plan();
    EXPECT_EQ(plan.partitioner, "keys-ignored");
    ASSERT_NE(find(plan, HazardId::keys_ignored), nullptr);
    EXPECT_EQ(find(plan, HazardId::keys_shuffle_among_old_partitions), nullptr);
    EXPECT_EQ(plan.verdict, Verdict::safe);
}

TEST(Plan, UnknownPartitionerGivesNoVerdict) {
    World world(6, 12);
    // Every key is in one place only, by a rule that no partitioner has.
    for (int index = 0; index < 600; ++index) {
        world.append((index * 5 + index / 7) % 6, "key-" + std::to_string(index));
    }
    const Plan plan = world.plan();
    EXPECT_EQ(plan.partitioner, "unknown");
    EXPECT_EQ(plan.verdict, Verdict::unknown);
    EXPECT_EQ(plan.moved, std::nullopt);
    EXPECT_THAT(plan.summary, HasSubstr("--partitioner"));
}

TEST(Plan, KeysThatKeepPartitionsNobodyKnowsAreCalledChosen) {
    World world(6, 12);
    for (int record = 0; record < 600; ++record) {
        world.append(record % 100 % 5, "key-" + std::to_string(record % 100));
    }
    const Plan plan = world.plan();
    EXPECT_EQ(plan.partitioner, "explicit-or-custom");
    EXPECT_THAT(plan.partitioner_explained, HasSubstr("100 of 100 repeated keys kept their partition"));
    EXPECT_EQ(plan.verdict, Verdict::unknown) << "where such a producer puts them after the growth is its own business";
    EXPECT_EQ(plan.moved, std::nullopt);
}

TEST(Plan, KeysInOneOfSeveralPartitionsAreCalledChosenOnceNoStickyClientWouldHaveStayed) {
    for (const auto& [size_bytes, name] :
         std::vector<std::pair<std::size_t, std::string>>{{100, "one-partition"}, {300'000, "explicit-or-custom"}}) {
        World world(6, 12);
        for (int index = 0; index < 100; ++index) {
            world.append(4, "key-" + std::to_string(index), size_bytes);
        }
        const Plan plan = world.plan();
        EXPECT_EQ(plan.partitioner, name);
        EXPECT_EQ(plan.verdict, Verdict::unknown);
    }
}

TEST(Plan, NamesTheProducersThatWillNotUseNewPartitions) {
    World world = random_world(6, 12, 3);
    world.facts.producers = {{"hashing (/10.0.0.1)", KeyHabit::hashes, true},
                             {"billing (/10.0.0.7)", KeyHabit::explicit_or_custom, false}};
    const Plan plan = world.plan();
    const Finding* unused = find(plan, HazardId::new_partitions_unused);
    ASSERT_NE(unused, nullptr);
    EXPECT_THAT(unused->condition, HasSubstr("billing (/10.0.0.7) chooses partitions explicitly"));
    EXPECT_EQ(unused->count, 1);
    EXPECT_EQ(find(plan, HazardId::idempotent_producers)->count, 1);
}

TEST(Plan, FewKeysAreNotEnough) {
    World world(6, 12);
    for (int index = 0; index < 39; ++index) {
        world.produce("key-" + std::to_string(index));
    }
    EXPECT_EQ(world.plan().verdict, Verdict::unknown);
    world.produce("key-39");
    EXPECT_EQ(world.plan().partitioner, "murmur2-pos");
}

TEST(Plan, OnePartitionTellsNothing) {
    World world(1, 4);
    for (int index = 0; index < 500; ++index) {
        world.produce("key-" + std::to_string(index));
    }
    const Plan plan = world.plan();
    EXPECT_EQ(plan.verdict, Verdict::unknown);
    ASSERT_NE(find(plan, HazardId::mixed_partitioners), nullptr);
    EXPECT_NEAR(plan.expected_key_share.value(), 0.75, 1e-9);
}

TEST(Plan, WithoutKeysExpandingIsSafe) {
    World world(6, 8);
    for (int index = 0; index < 500; ++index) {
        world.append(index % 6, std::nullopt);
    }
    const Plan plan = world.plan();
    EXPECT_EQ(plan.verdict, Verdict::safe) << plan.summary;
    EXPECT_EQ(plan.partitioner, "none");
    ASSERT_TRUE(plan.moved.has_value());
    EXPECT_EQ(plan.moved->keys, 0);
    EXPECT_EQ(find(plan, HazardId::keys_shuffle_among_old_partitions), nullptr);
    ASSERT_NE(find(plan, HazardId::irreversible), nullptr);
}

TEST(Plan, EmptyTopicIsSafe) { EXPECT_EQ(World(3, 6).plan().verdict, Verdict::safe); }

TEST(Plan, DamagedBatchesAllowNoSafeVerdict) {
    World world(6, 8);
    world.append(0, std::nullopt);
    world.scan(std::nullopt);
    world.scanned.damaged_batches = 1;
    world.scanned.first_damage = "partition 0 at offset 7: wrong checksum";
    const Plan plan = make_plan(world.facts, *world.census, {}, world.scanned);
    EXPECT_EQ(plan.verdict, Verdict::unknown);
    EXPECT_THAT(plan.summary, HasSubstr("offset 7"));
}

TEST(Plan, OnlyABacklogWithMovingKeysBlocks) {
    World world = random_world(6, 12, 3);
    std::vector<std::int64_t> ends;
    for (const PartitionFacts& partition : world.facts.partitions) {
        ends.push_back(partition.log_end.value);
    }
    world.group("done", ends);
    EXPECT_EQ(find(world.plan(), HazardId::backlog_inversion), nullptr);
    EXPECT_EQ(world.plan().verdict, Verdict::findings);
    ends[2] -= 100;
    world.group("late", ends);
    const Plan plan = world.plan();
    const Finding* finding = find(plan, HazardId::backlog_inversion);
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->subject.group, "late");
    EXPECT_EQ(plan.verdict, Verdict::blocked);
    EXPECT_EQ(plan.groups[1].lag, 100);
    EXPECT_GT(finding->count, 0);
    EXPECT_LE(finding->count, 100);
}

TEST(Plan, ABacklogSaysWhetherItsNumbersAreExact) {
    World world = random_world(6, 12, 3);
    std::vector<std::int64_t> ends;
    for (const PartitionFacts& partition : world.facts.partitions) {
        ends.push_back(partition.log_end.value);
    }
    ends[2] -= 100;
    world.group("late", ends);
    const Plan read = world.plan();
    const std::int64_t moved = *read.groups[0].moved_backlog;
    const auto text = [&](const Plan& plan) { return find(plan, HazardId::backlog_inversion)->condition; };
    EXPECT_TRUE(text(read).starts_with("group late has not read 100 records, and " + std::to_string(moved) + " record"))
        << text(read) << ": all of them were read";
    EXPECT_TRUE(text(make_plan_without_scan(world.facts)).starts_with("group late has not read up to 100 records; "))
        << "nobody has counted";
    std::optional<RecordCount>& unread = world.facts.groups[0].unread;
    unread = {.records = 100};
    EXPECT_TRUE(text(world.plan()).starts_with("group late has not read 100 records, and " + std::to_string(moved) + " record"));
    EXPECT_EQ(find(world.plan(), HazardId::backlog_inversion)->numbers.back(), (FindingNumber{"is_exact", 1}));
    // Some of the offsets have no record: the keys that were read may belong to aborted transactions.
    unread = {.records = 99};
    EXPECT_TRUE(
        text(world.plan()).starts_with("group late has not read 99 records, and up to " + std::to_string(moved) + " record"));
    EXPECT_EQ(find(world.plan(), HazardId::backlog_inversion)->numbers.back(), (FindingNumber{"is_exact", 0}));
    unread = {.records = 0};
    EXPECT_EQ(find(world.plan(), HazardId::backlog_inversion), nullptr) << "markers alone are no backlog";
}

TEST(ProtectedPlan, ADrainedGuardedTopicIsSafe) {
    World world = random_world(6, 12, 3);
    std::vector<std::int64_t> ends;
    for (const PartitionFacts& partition : world.facts.partitions) {
        ends.push_back(partition.log_end.value);
    }
    world.group("done", ends);
    world.facts.seeds_offsets = true;
    Plan plan = world.plan();
    EXPECT_EQ(plan.verdict, Verdict::findings);
    protect_plan(plan, {.protection = Protection::guarded, .producers = {{"shop (/10.0.0.1)", 31'000}}});
    EXPECT_EQ(plan.verdict, Verdict::safe) << plan.summary;
    EXPECT_EQ(find(plan, HazardId::keys_move)->severity, Severity::info);
    EXPECT_THAT(find(plan, HazardId::keys_move)->condition, HasSubstr("no group has records of them left to read"));
}

TEST(ProtectedPlan, WhatTheGuardRefusesBlocks) {
    World world = random_world(6, 12, 3);
    Plan plan = world.plan();
    protect_plan(plan, {.protection = Protection::guarded,
                        .refusals = {{HazardId::stale_producer, "producer shop at /10.0.0.7 wrote 2.1 s ago"}}});
    EXPECT_EQ(plan.verdict, Verdict::blocked);
    EXPECT_EQ(plan.findings.front().id, HazardId::stale_producer) << "the worst first";
    EXPECT_EQ(title_of(plan.findings.front()), "the broker refuses the growth now");
    EXPECT_THAT(plan.findings.front().condition, HasSubstr("producer shop at /10.0.0.7 wrote 2.1 s ago"));
    EXPECT_EQ(find(plan, HazardId::keys_move)->severity, Severity::warn) << "not drained";
}

TEST(ProtectedPlan, AHazardThatIsRefusedIsToldOnce) {
    World world = random_world(6, 12, 3);
    world.facts.seeds_offsets = true;
    world.group("late", std::vector<std::int64_t>(6, 0));
    world.group("later", std::vector<std::int64_t>(6, 0));
    Plan plan = world.plan();
    const std::string hazard = find(plan, HazardId::backlog_inversion)->condition;
    protect_plan(
        plan, {.protection = Protection::guarded,
               .refusals = {{HazardId::backlog_inversion, "group late has not read 7 records", "late"},
                            {HazardId::backlog_inversion, "group later has not read 7 records", "later"},
                            {HazardId::backlog_inversion, "group new has committed nothing for 2 partitions with records", "new"},
                            {HazardId::stale_producer, "producer a wrote 2.1 s ago"},
                            {HazardId::stale_producer, "producer b wrote 3.0 s ago"}},
               .producers = {{"a", 2'100}, {"b", 3'000}}});
    std::set<std::pair<HazardId, std::string>> told;
    for (const Finding& finding : plan.findings) {
        EXPECT_TRUE(told.emplace(finding.id, finding.subject.group).second)
            << to_string(finding.id) << " of " << finding.subject.group;
    }
    EXPECT_TRUE(told.contains({HazardId::backlog_inversion, "new"})) << "a refusal without a hazard stands for itself";
    const auto late = std::ranges::find_if(plan.findings, [](const Finding& finding) { return finding.subject.group == "late"; });
    EXPECT_EQ(late->severity, Severity::block);
    EXPECT_THAT(late->condition, HasSubstr(hazard));
    EXPECT_THAT(late->condition, HasSubstr("the topic's mode refuses to grow it now: group late has not read 7 records"));
    EXPECT_GT(late->count, 0) << "with the numbers of the hazard";
    EXPECT_THAT(find(plan, HazardId::stale_producer)->condition, HasSubstr("producer b wrote 3.0 s ago"));
}

TEST(ProtectedPlan, AFenceMakesABacklogGoodToKnow) {
    World world = random_world(6, 12, 3);
    world.facts.seeds_offsets = true;
    world.group("late", std::vector<std::int64_t>(6, 0));
    Plan plan = world.plan();
    EXPECT_EQ(plan.verdict, Verdict::blocked);
    protect_plan(plan, {.protection = Protection::fenced, .producers = {{"shop (/10.0.0.1)", 100}}});
    EXPECT_EQ(plan.verdict, Verdict::safe) << plan.summary;
    EXPECT_EQ(find(plan, HazardId::backlog_inversion)->severity, Severity::info);
    EXPECT_EQ(find(plan, HazardId::stale_producer)->severity, Severity::info);
}

TEST(ProtectedPlan, IsNotSafeWhileKeyedProducersAreActive) {
    Plan plan = World(6, 12).plan();
    EXPECT_EQ(plan.verdict, Verdict::safe) << "purged, and nobody known to write";
    Plan stopped = plan;
    protect_plan(stopped, {.producers = {{"shop (/10.0.0.1)", 300'000}}});
    EXPECT_EQ(stopped.verdict, Verdict::safe);
    protect_plan(plan, {.producers = {{"shop (/10.0.0.1)", 4'000}}});
    EXPECT_EQ(plan.verdict, Verdict::findings);
    EXPECT_EQ(find(plan, HazardId::stale_producer)->condition,
              "shop (/10.0.0.1) wrote keys 4 s ago: until it learns the new count, newer records can overtake its records");
    Plan left = World(6, 12).plan();
    protect_plan(left, {.producers = {{"shop (/10.0.0.1)", 4'000, true}, {"till (/10.0.0.2)", 2'000, true}}});
    EXPECT_EQ(left.verdict, Verdict::findings) << "they may be back";
    EXPECT_EQ(find(left, HazardId::stale_producer)->condition,
              "shop (/10.0.0.1) (disconnected), till (/10.0.0.2) (disconnected) wrote keys 2 s ago: if they come back with the "
              "old count, newer records can overtake their records");
}

TEST(ProtectedPlan, IsNotSafeWhereNobodyKnowsWhoWroteWhatIsDeleted) {
    Plan plan = World(6, 12).plan();
    const Plan purged = plan;
    protect_plan(plan, {.may_miss_producers = true});
    EXPECT_EQ(plan.verdict, Verdict::unknown) << plan.summary;
    EXPECT_THAT(plan.unknown_facts, ::testing::ElementsAre(HasSubstr("whether producers of keys are active")));
    Plan fenced = purged;
    protect_plan(fenced, {.protection = Protection::fenced, .may_miss_producers = true});
    EXPECT_EQ(fenced.verdict, Verdict::safe) << "whoever they are, the fence keeps their order";
}

TEST(Plan, ListsCompactedOrphansExactly) {
    World world(4, 6);
    world.facts.is_compacted = true;
    std::set<std::string> orphans;
    for (int index = 0; index < 300; ++index) {
        const std::string key = "key-" + std::to_string(index);
        const bool deleted = index % 4 == 0;
        world.produce(key);
        if (deleted) {
            world.produce(key, Family::murmur2_pos, 10, false);
        }
        const bool moves = partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 4) !=
                           partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 6);
        if (moves && !deleted) {
            orphans.insert(key);
        }
    }
    const Plan plan = world.plan();
    const Finding* finding = find(plan, HazardId::compacted_orphans);
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->count, static_cast<std::int64_t>(orphans.size()));
    for (const ExampleKey& example : finding->examples) {
        EXPECT_TRUE(orphans.contains(example.key)) << example.key;
    }
    EXPECT_EQ(plan.verdict, Verdict::blocked);
}

TEST(Plan, NamesTheHotKeyThatNoPartitionCountHelps) {
    World world = random_world(6, 12, 4);
    for (int index = 0; index < 3000; ++index) {
        world.produce("the hot one", Family::murmur2_pos, 100);
    }
    const Plan plan = world.plan();
    const Finding* finding = find(plan, HazardId::hot_key_not_helped);
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->count, 1);
    EXPECT_EQ(finding->examples.at(0).key, "the hot one");
    EXPECT_EQ(finding->severity, Severity::warn);
}

TEST(Plan, PlacesExamplesOfLongKeysByTheWholeKey) {
    World world(6, 12);
    using Move = std::pair<std::int32_t, std::int32_t>;
    std::map<std::string, Move> moves;
    for (int index = 0; index < 300; ++index) {
        const std::string key = std::to_string(index) + "-" + std::string(500, 'k');
        world.produce(key, Family::murmur2_pos, index == 0 ? 1'000'000 : 10);
        moves[key.substr(0, Finding::kExampleKeyBytesMax)] = {
            partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 6).value,
            partitioners::partition_of(Family::murmur2_pos, as_bytes(key), 12).value};
    }
    const Plan plan = world.plan();
    const Finding* hot = find(plan, HazardId::hot_key_not_helped);
    ASSERT_NE(hot, nullptr);
    EXPECT_FALSE(hot->examples.at(0).from) << "of this one only the beginning is known";
    const Finding* moved = find(plan, HazardId::keys_move);
    ASSERT_NE(moved, nullptr);
    EXPECT_EQ(moved->examples.size(), Finding::kExamplesMax);
    for (const ExampleKey& example : moved->examples) {
        EXPECT_EQ(Move(example.from->value, example.to->value), moves.at(example.key));
    }
}

TEST(Plan, FindsTheSameKeyInTwoPartitions) {
    World world = random_world(6, 12, 4);
    const int home = partitioners::partition_of(Family::murmur2_pos, as_bytes("key-1"), 6).value;
    world.append((home + 1) % 6, "key-1");
    const Plan plan = world.plan();
    ASSERT_NE(find(plan, HazardId::key_in_two_partitions), nullptr);
    EXPECT_EQ(find(plan, HazardId::key_in_two_partitions)->count, 1);
}

TEST(Plan, JudgesGroupsOfEveryKind) {
    World world = random_world(6, 12, 9);
    GroupFacts& streams = world.group("app");
    streams.protocol = "stream";
    streams.members.resize(5);
    streams.internal_topics = {"app-store-changelog"};
    streams.other_topics = {{"customers", 6, true}, {"other", 3, false}};
    const Plan plan = world.plan();
    for (const HazardId id : {HazardId::streams_application_dies, HazardId::copartition_breaks, HazardId::rebalance,
                              HazardId::uneven_members, HazardId::latest_loses_first_records, HazardId::partition_state_lost}) {
        ASSERT_NE(find(plan, id), nullptr) << to_string(id);
        EXPECT_EQ(find(plan, id)->kind, HazardKind::danger) << to_string(id) << " has not happened yet";
    }
    EXPECT_THAT(find(plan, HazardId::copartition_breaks)->condition, HasSubstr("customers"));
    EXPECT_THAT(find(plan, HazardId::uneven_members)->advice, HasSubstr("30"));
    world.facts.seeds_offsets = true;
    EXPECT_EQ(find(world.plan(), HazardId::latest_loses_first_records), nullptr);
    EXPECT_EQ(find(world.plan(), HazardId::seeded_offsets)->count, 6);
}

// Streams makes an internal topic with the count of its source, and repartitions a source whose keys it changes before a join.
TEST(Plan, IsCarefulWithAStreamsApplicationThatReadsSeveralTopicsOrRepartitionsThem) {
    World world = random_world(6, 12, 9);
    GroupFacts& streams = world.group("app");
    streams.protocol = "stream";
    streams.members.resize(1);
    streams.internal_topics = {"app-store-changelog"};
    streams.other_topics = {{"app-store-repartition", 6, true}};
    const Plan alone = world.plan();
    EXPECT_EQ(find(alone, HazardId::streams_application_dies)->severity, Severity::block);
    EXPECT_EQ(find(alone, HazardId::copartition_breaks), nullptr) << "its own topics are no partners of a join";
    streams.other_topics.push_back({"customers", 6, true});
    const Plan joined = world.plan();
    EXPECT_EQ(find(joined, HazardId::streams_application_dies)->severity, Severity::warn);
    EXPECT_THAT(find(joined, HazardId::streams_application_dies)->condition, HasSubstr("if one of them comes from this topic"));
    EXPECT_EQ(find(joined, HazardId::copartition_breaks)->severity, Severity::warn);
    EXPECT_THAT(find(joined, HazardId::copartition_breaks)->condition,
                HasSubstr("unless the application repartitions the topic"));
    streams.other_topics.erase(streams.other_topics.begin());
    EXPECT_EQ(find(world.plan(), HazardId::copartition_breaks)->severity, Severity::block);
}

TEST(Plan, NamesSomeOfManyTopicsThatAreReadSideBySideAndCountsAll) {
    World world = random_world(6, 12, 9);
    GroupFacts& joined = world.group("app");
    joined.members.resize(1);
    for (int number = 10; number < 30; ++number) {
        joined.other_topics.push_back({"topic-" + std::to_string(number), 6, true});
    }
    const Plan plan = world.plan();
    const Finding* broken = find(plan, HazardId::copartition_breaks);
    EXPECT_EQ(broken->count, 20);
    EXPECT_THAT(broken->condition, HasSubstr("topic-17 with 6 and 12 more)"));
    EXPECT_EQ(broken->numbers[1], (FindingNumber{"is_exact", 1}));
    joined.has_more_aligned = true;
    EXPECT_EQ(find(world.plan(), HazardId::copartition_breaks)->numbers[1], (FindingNumber{"is_exact", 0}));
}

TEST(Plan, TellsProgramsByTheNamesOfTheirGroupsAndClients) {
    World world = random_world(6, 12, 9);
    world.group("orders", {0});
    EXPECT_EQ(find(world.plan(), HazardId::external_offsets), nullptr);
    EXPECT_EQ(find(world.plan(), HazardId::mirrors), nullptr);
    world.group("spark-kafka-source-4e1f-driver-0", {0});
    world.group("copy").members.push_back({.client_id = "A->B|MirrorSourceConnector-0|replication-consumer"});
    const Plan plan = world.plan();
    EXPECT_THAT(find(plan, HazardId::external_offsets)->condition, HasSubstr("Spark"));
    EXPECT_EQ(find(plan, HazardId::external_offsets)->subject.group, "spark-kafka-source-4e1f-driver-0");
    EXPECT_EQ(find(plan, HazardId::mirrors)->subject.group, "copy");
    world.facts.mirror_topics = {"mm2-offset-syncs.B.internal"};
    EXPECT_EQ(std::ranges::count(world.plan().findings, HazardId::mirrors, &Finding::id), 2);
}

TEST(Plan, JudgesTopicsOfSystems) {
    World internal(50, 100);
    internal.facts.is_internal = true;
    internal.facts.is_history_known = false;
    for (std::int64_t producer = 1; producer <= 7; ++producer) {
        internal.facts.open_transactions.push_back({ProducerId{producer}, "t" + std::to_string(producer), {PartitionIndex{3}}});
    }
    const Plan plan = internal.plan();
    EXPECT_EQ(plan.verdict, Verdict::blocked);
    for (const HazardId id : {HazardId::internal_topic, HazardId::no_history, HazardId::open_transactions}) {
        EXPECT_NE(find(plan, id), nullptr) << to_string(id);
    }
    EXPECT_EQ(
        find(plan, HazardId::open_transactions)->condition,
        "1 partition with 7 open transactions: t1 (producer 1), t2 (producer 2), t3 (producer 3), t4 (producer 4), t5 (producer "
        "5) and 2 more");
    World schemas(1, 2);
    schemas.facts.name = "_schemas";
    EXPECT_NE(find(schemas.plan(), HazardId::single_partition_topic), nullptr);
    World connect(25, 50);
    connect.facts.name = "connect-offsets";
    EXPECT_EQ(find(connect.plan(), HazardId::connect_state), nullptr) << "not compacted: nothing is kept there by key";
    connect.facts.is_compacted = true;
    EXPECT_NE(find(connect.plan(), HazardId::connect_state), nullptr);
    World changelog(4, 8);
    changelog.facts.name = "app-store-changelog";
    changelog.facts.owning_application = "app";
    EXPECT_EQ(find(changelog.plan(), HazardId::streams_internal_topic)->severity, Severity::block);
}

TEST(Plan, WithoutAScanItIsNeverSafe) {
    World world = random_world(6, 8, 2);
    world.group("g", {0, 0, 0, 0, 0, 0});
    const Plan plan = make_plan_without_scan(world.facts);
    EXPECT_EQ(plan.verdict, Verdict::blocked);
    ASSERT_NE(find(plan, HazardId::keys_shuffle_among_old_partitions), nullptr);
    EXPECT_THAT(find(plan, HazardId::keys_shuffle_among_old_partitions)->advice, HasSubstr("Choose 12"));
    EXPECT_EQ(make_plan_without_scan(World(3, 6).facts).verdict, Verdict::unknown);
}

TEST(Plan, EstimatesBeyondTheExactBoundAndSaysSo) {
    World world(6, 12);
    for (int index = 0; index < 60'000; ++index) {
        world.produce("key-" + std::to_string(index));
    }
    for (int index = 0; index < 60'000; ++index) {
        world.produce("hot", Family::murmur2_pos, 100);
    }
    const KeyCensus& census = world.scan(Family::murmur2_pos, {.keys_max = 5000});
    const PlacementEvidence evidence{.kind = PlacementKind::given, .family = Family::murmur2_pos};
    const Plan plan = make_plan(world.facts, census, evidence, world.scanned);
    EXPECT_GT(plan.key_error, 0.0);
    EXPECT_NEAR(static_cast<double>(plan.distinct_keys), 60'001.0, 4 * plan.key_error * 60'001.0);
    EXPECT_NEAR(plan.moved->key_share, 0.5, 4 * plan.key_error);
    // Records are counted one by one, whatever the number of keys.
    std::int64_t moved = 0;
    for (const World::Record& record : world.records) {
        moved += partitioners::partition_of(Family::murmur2_pos, as_bytes(*record.key), 6) !=
                 partitioners::partition_of(Family::murmur2_pos, as_bytes(*record.key), 12);
    }
    EXPECT_EQ(plan.moved->records, moved);
    ASSERT_NE(find(plan, HazardId::hot_key_not_helped), nullptr);
    EXPECT_EQ(find(plan, HazardId::hot_key_not_helped)->examples.at(0).key, "hot");
}

TEST(Plan, RefusesTargetsThatAreNoExpansionInWords) {
    EXPECT_EQ(target_problem("t", 6, 12), std::nullopt);
    EXPECT_EQ(target_problem("t", 6, 6), "topic t has 6 partitions already");
    EXPECT_THAT(*target_problem("t", 6, 5), HasSubstr("never shrinks"));
    EXPECT_THAT(*target_problem("t", 6, -1), HasSubstr("never shrinks"));
    EXPECT_THAT(*target_problem("t", 6, 2'000'000'000'000), HasSubstr("at most 100000"));
}

TEST(PlanJson, HasTheDocumentedMembers) {
    World world(2, 3);
    world.facts.retention_ms = -1;
    for (int index = 0; index < 40; ++index) {
        world.produce("k" + std::to_string(index));
    }
    const auto json = plan_json(world.plan(), KeyStyle::text);
    std::vector<std::string> names;
    for (const auto& [name, value] : json.items()) {
        names.push_back(name);
    }
    EXPECT_THAT(names, ::testing::ElementsAre("schema", "topic", "from", "to", "verdict", "summary", "scanned", "partitioner",
                                              "expected_key_share", "moved", "partitions", "groups", "findings", "better_targets",
                                              "unknown"));
    EXPECT_EQ(json["scanned"].dump(),
              R"({"records":40,"bytes":400,"keyed_records":40,"keys":40,"keys_relative_error":0.0,"complete":true,)"
              R"("limited_by":null,"damaged_batches":0})");
    EXPECT_EQ(json["partitioner"]["alternatives"].dump(), R"(["murmur2-uns","murmur2-sabs"])");
    EXPECT_EQ(json["better_targets"].dump(), "[4]");
    EXPECT_EQ(json["partitions"].size(), 3u);
    EXPECT_EQ(json["partitions"][2]["parents"].dump(), "[0,1]");
    EXPECT_EQ(json["verdict"], "findings");
    const auto hashed = plan_json(world.plan(), KeyStyle::hashed).dump();
    EXPECT_EQ(hashed.find("\"k1\""), std::string::npos);
}

}  // namespace
}  // namespace partita::insight
