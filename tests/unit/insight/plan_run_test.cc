#include "broker/insight/plan/plan_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "broker/partitioners/families.h"

namespace partita::insight {
namespace {

using partitioners::Family;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MemorySource final : public ScanSource {
  public:
    explicit MemorySource(std::int32_t partitions) : logs(static_cast<std::size_t>(partitions)) {}

    std::expected<void, std::string> read(const ScanRange& range, ScanSink& sink) override {
        if (broken) {
            return std::unexpected("the disk is gone");
        }
        const auto& log = logs[static_cast<std::size_t>(range.partition.value)];
        for (std::int64_t offset = range.from.value; offset < range.end.value; ++offset) {
            ++reads;
            if (damaged.contains({range.partition.value, offset})) {
                sink.damage(Offset{offset}, "wrong checksum");
                continue;
            }
            const std::string& key = log[static_cast<std::size_t>(offset)];
            if (!sink.record({Offset{offset}, as_bytes(key), key.size() + 10, true})) {
                return {};
            }
        }
        return {};
    }
    void produce(const std::string& key, Family family, std::int32_t count) {
        logs[static_cast<std::size_t>(partitioners::partition_of(family, as_bytes(key), count).value)].push_back(key);
    }
    [[nodiscard]] PlannedTopic facts(std::int32_t to) const {
        PlannedTopic facts;
        facts.name = "t";
        facts.old_count = static_cast<std::int32_t>(logs.size());
        facts.new_count = to;
        facts.is_history_known = true;
        for (const auto& log : logs) {
            facts.partitions.push_back({Offset{0}, Offset{static_cast<std::int64_t>(log.size())}});
        }
        return facts;
    }

    std::vector<std::vector<std::string>> logs;
    std::map<std::pair<int, std::int64_t>, bool> damaged;
    bool broken = false;
    std::int64_t reads = 0;
};

std::string key(int index) { return "key-" + std::to_string(index); }

TEST(PlanRun, FindsThePartitionerAndCountsEverything) {
    MemorySource source(6);
    for (int index = 0; index < 5000; ++index) {
        source.produce(key(index % 900), Family::fnv1a_sabs, 6);
    }
    const auto outcome = run_plan(source.facts(12), source, {}, nullptr);
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->plan.partitioner, "fnv1a-sabs");
    EXPECT_EQ(outcome->plan.scanned->records, 5000);
    EXPECT_TRUE(outcome->plan.scanned->is_complete);
    EXPECT_EQ(outcome->plan.distinct_keys, 900);
}

TEST(PlanRun, CountsOnceMoreWhenTheWholeLogShowsMoreThanTheSample) {
    // The newest records of each partition repeat one key; only the older ones have enough keys to judge by.
    MemorySource source(2);
    for (int index = 0; index < 1000; ++index) {
        source.produce(key(index), Family::murmur2_pos, 2);
    }
    const std::string zero = source.logs[0][0];
    const std::string one = source.logs[1][0];
    for (int index = 0; index < 20'000; ++index) {
        source.logs[0].push_back(zero);
        source.logs[1].push_back(one);
    }
    const auto outcome = run_plan(source.facts(3), source, {}, nullptr);
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->plan.partitioner, "murmur2-pos");
    ASSERT_TRUE(outcome->plan.moved.has_value());
    EXPECT_GT(outcome->plan.moved->keys, 0);
}

TEST(PlanRun, ReadsRecordsOfEarlierEpochsWithTheirCount) {
    MemorySource source(4);
    for (int index = 0; index < 2000; ++index) {
        source.produce(key(index % 500), Family::murmur2_pos, 3);
    }
    PlannedTopic facts = source.facts(8);
    EarlierExpansion earlier{.old_count = 3, .new_count = 4};
    for (std::size_t partition = 0; partition < 3; ++partition) {
        earlier.log_end_offsets.push_back(facts.partitions[partition].log_end);
    }
    for (int index = 0; index < 2000; ++index) {
        source.produce(key(index % 500), Family::murmur2_pos, 4);
    }
    facts = source.facts(8);
    facts.earlier.push_back(earlier);
    const auto outcome = run_plan(facts, source, {}, nullptr);
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->plan.partitioner, "murmur2-pos") << outcome->plan.partitioner_explained;
    // Growing from 3 to 4 moves three quarters of the keys. Their older records now lie elsewhere, which is no finding of
    // scattered keys.
    EXPECT_EQ(std::ranges::count(outcome->plan.findings, HazardId::key_in_two_partitions, &Finding::id), 0);
    EXPECT_NEAR(static_cast<double>(outcome->census->records_of_older_epochs()), 1500.0, 200.0);
}

TEST(PlanRun, ANamedPartitionerIsTaken) {
    MemorySource source(6);
    for (int index = 0; index < 500; ++index) {
        source.produce(key(index), Family::murmur2_pos, 6);
    }
    PlanOptions options;
    options.partitioner = partitioners::find_partitioner("librdkafka");
    const auto outcome = run_plan(source.facts(12), source, options, nullptr);
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->plan.partitioner, "crc32-uns");
    EXPECT_THAT(outcome->plan.partitioner_explained, HasSubstr("given by the request"));
}

TEST(PlanRun, ReadsTheNewestRecordsWhenLimited) {
    MemorySource source(3);
    for (int index = 0; index < 3000; ++index) {
        source.produce(key(index), Family::murmur2_pos, 3);
    }
    PlanOptions options;
    options.records_max = 100;
    const auto outcome = run_plan(source.facts(6), source, options, nullptr);
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->plan.scanned->records, 100);
    EXPECT_FALSE(outcome->plan.scanned->is_complete);
    EXPECT_EQ(outcome->plan.scanned->limited_by, "records");
}

TEST(PlanRun, StartsWhereItIsTold) {
    MemorySource source(2);
    for (int index = 0; index < 400; ++index) {
        source.produce(key(index), Family::murmur2_pos, 2);
    }
    PlanOptions options;
    options.since = {Offset{static_cast<std::int64_t>(source.logs[0].size()) - 5}, Offset{1'000'000}};
    const auto outcome = run_plan(source.facts(4), source, options, nullptr);
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->plan.scanned->records, 5);
    EXPECT_EQ(outcome->plan.scanned->limited_by, "since");
}

TEST(PlanRun, APartOfTheLogWithNothingInItGivesNoVerdict) {
    MemorySource source(2);
    for (int index = 0; index < 400; ++index) {
        source.produce(key(index), Family::murmur2_pos, 2);
    }
    PlanOptions options;
    options.since = {Offset{1'000'000}, Offset{1'000'000}};
    const auto outcome = run_plan(source.facts(4), source, options, nullptr);
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->plan.scanned->records, 0);
    EXPECT_EQ(outcome->plan.verdict, Verdict::unknown);
    EXPECT_FALSE(outcome->plan.moved) << "not 0 keys: nobody looked at any";
}

TEST(PlanRun, CanBeCancelledWhileItReads) {
    MemorySource source(1);
    for (int index = 0; index < 100'000; ++index) {
        source.logs[0].push_back(key(index));
    }
    int calls = 0;
    const auto outcome = run_plan(source.facts(2), source, {}, [&](std::int64_t, std::int64_t) { return ++calls < 5; });
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().failure, PlanFailure::cancelled);
    EXPECT_LT(source.reads, 50'000);
}

TEST(PlanRun, SaysWhatItCouldNotRead) {
    MemorySource source(2);
    for (int index = 0; index < 500; ++index) {
        source.produce(key(index), Family::murmur2_pos, 2);
    }
    source.damaged[{1, 7}] = true;
    const auto damaged = run_plan(source.facts(4), source, {}, nullptr);
    ASSERT_TRUE(damaged.has_value());
    EXPECT_EQ(damaged->plan.scanned->damaged_batches, 1);
    EXPECT_EQ(damaged->plan.scanned->first_damage, "partition 1 at offset 7: wrong checksum");
    EXPECT_FALSE(damaged->plan.scanned->is_complete);
    source.broken = true;
    const auto broken = run_plan(source.facts(4), source, {}, nullptr);
    ASSERT_FALSE(broken.has_value());
    EXPECT_EQ(broken.error().message, "the disk is gone");
}

TEST(PlanRun, TellsItsProgressUpToTheEnd) {
    MemorySource source(3);
    for (int index = 0; index < 30'000; ++index) {
        source.produce(key(index), Family::murmur2_pos, 3);
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> seen;
    (void)run_plan(source.facts(6), source, {}, [&](std::int64_t done, std::int64_t total) {
        seen.emplace_back(done, total);
        return true;
    });
    EXPECT_EQ(seen.back(), (std::pair<std::int64_t, std::int64_t>{30'000, 30'000}));
}

TEST(LimitRanges, CutsLongRangesBeforeShortOnes) {
    std::vector<ScanRange> ranges = {{PartitionIndex{0}, Offset{0}, Offset{1000}},
                                     {PartitionIndex{1}, Offset{90}, Offset{100}},
                                     {PartitionIndex{2}, Offset{5}, Offset{5}},
                                     {PartitionIndex{3}, Offset{0}, Offset{500}}};
    limit_ranges(ranges, 110);
    EXPECT_THAT(ranges, ElementsAre(ScanRange{PartitionIndex{0}, Offset{950}, Offset{1000}},
                                    ScanRange{PartitionIndex{1}, Offset{90}, Offset{100}},
                                    ScanRange{PartitionIndex{2}, Offset{5}, Offset{5}},
                                    ScanRange{PartitionIndex{3}, Offset{450}, Offset{500}}));
    limit_ranges(ranges, 0);
    for (const ScanRange& range : ranges) {
        EXPECT_EQ(range.from, range.end);
    }
}

TEST(KeyLines, AreOneLineEachWhateverTheKey) {
    KeyCensus census({.old_count = 3, .new_count = 6, .family = Family::murmur2_pos});
    for (const std::string_view key : {std::string_view("user-42"), std::string_view("a\tb\nc\\"), std::string_view("\xff", 1)}) {
        census.add({.partition = PartitionIndex{0}, .key = as_bytes(key)});
    }
    std::string lines;
    write_key_lines(census, KeyStyle::text, [&](std::string_view part) {
        lines += part;
        return true;
    });
    // The partitions of user-42 are published vectors of murmur2 at 3 and 6.
    EXPECT_THAT(lines, HasSubstr("user-42\t1\t4\n"));
    EXPECT_THAT(lines, HasSubstr("a\\x09b\\x0ac\\x5c\t"));
    EXPECT_THAT(lines, HasSubstr("\\xff\t"));
}

}  // namespace
}  // namespace partita::insight
