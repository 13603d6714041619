// Tests for what a group was handed in wrong order after a growth, by the answers that the broker sent (H06), and for the records
// that are in danger before that (H03).

#include <optional>
#include <string>

#include "broker/partitioners/families.h"
#include "tests/unit/insight/consumer_watch_fixture.h"

namespace partita::insight {
namespace {

/// "orders" with keys: 40 records in partition 0 and 20 in partition 1 from before the growth, each with a key of its own that
/// Java's partitioner puts there. Then one record of each key, where the new count puts it.
class ConsumerOrderTest : public ConsumerWatchTest {
  protected:
    static constexpr std::int64_t kOldRecords = 40;
    static constexpr std::int64_t kOtherRecords = 20;
    static constexpr PartitionIndex kOther{1};

    ConsumerOrderTest() : ConsumerWatchTest({Offset{kOldRecords}, Offset{kOtherRecords}}) {
        std::map<PartitionIndex, std::int64_t> ends;
        for (int number = 0; ends[kOld] < kOldRecords || ends[kOther] < kOtherRecords; ++number) {
            const std::string key = "key-" + std::to_string(number);
            const PartitionIndex home = home_of(key, 2);
            const std::int64_t limit = home == kOld ? kOldRecords : kOtherRecords;
            if (ends[home] == limit) {
                continue;
            }
            records_.keys[home][Offset{ends[home]++}] = key;
            moved_ += home_of(key, 4) != home ? 1 : 0;
            moved_from_old_ += home == kOld && home_of(key, 4) != home ? 1 : 0;
        }
        assign_everything();
        std::map<PartitionIndex, std::map<Offset, std::string>> after;
        for (const auto& [partition, keys] : records_.keys) {
            for (const auto& [offset, key] : keys) {
                const PartitionIndex home = home_of(key, 4);
                after[home][Offset{ends[home]++}] = key;
            }
        }
        for (auto& [partition, keys] : after) {
            records_.keys[partition].merge(keys);
        }
        ends_.clear();
        for (std::int32_t partition = 0; partition < 4; ++partition) {
            ends_.push_back(Offset{ends[{partition}]});
        }
    }

    static PartitionIndex home_of(const std::string& key, std::int32_t count) {
        return partitioners::partition_of(partitioners::Family::murmur2_pos, as_bytes(key), count);
    }
    std::int64_t end(std::int32_t partition) { return ends_[static_cast<std::size_t>(partition)].value; }
    std::optional<Finding> wrong_order(std::string_view group = "billing") {
        return finding(HazardId::inversion_delivered, group);
    }
    static std::int64_t number(const Finding& finding, std::string_view name) {
        for (const FindingNumber& each : finding.numbers) {
            if (each.name == name) {
                return each.value;
            }
        }
        ADD_FAILURE() << name;
        return -1;
    }

    std::int64_t moved_ = 0;
    std::int64_t moved_from_old_ = 0;
};

TEST_F(ConsumerOrderTest, DangerIsToldFromTheGrowthOnWithTheRecordsWhoseKeysMoved) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    const auto danger = finding(HazardId::backlog_inversion);
    ASSERT_TRUE(danger);
    EXPECT_EQ(number(*danger, "backlog_records"), kOldRecords + kOtherRecords);
    EXPECT_EQ(number(*danger, "moved_backlog_records"), moved_);
    EXPECT_EQ(danger->count, moved_);
    billing().committed[1] = Offset{kOtherRecords};
    EXPECT_EQ(number(*finding(HazardId::backlog_inversion), "moved_backlog_records"), moved_from_old_);
    billing().committed[0] = Offset{kOldRecords};
    EXPECT_FALSE(finding(HazardId::backlog_inversion));
}

TEST_F(ConsumerOrderTest, AGroupThatReadsNewPartitionsFirstGotEachMovedKeyInWrongOrder) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    (void)findings();
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    EXPECT_FALSE(wrong_order()) << "the older records may still be skipped";
    deliver(kOld, 0, end(0));
    deliver(kOther, 0, end(1));
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_);
    EXPECT_EQ(told->severity, Severity::block);
    EXPECT_EQ(number(*told, "processed_keys"), 0);
    EXPECT_EQ(number(*told, "is_exact"), 1);
    EXPECT_EQ(told->examples.size(), Finding::kExamplesMax);
}

TEST_F(ConsumerOrderTest, AGroupThatReadsOldPartitionsFirstGotNothingInWrongOrder) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    (void)findings();
    deliver(kOld, 0, kOldRecords);
    deliver(kOther, 0, kOtherRecords);
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, kOldRecords, end(0));
    deliver(kOther, kOtherRecords, end(1));
    EXPECT_FALSE(wrong_order());
}

// A fast reader has committed everything before anybody looks.
TEST_F(ConsumerOrderTest, ReadersThatAreFasterThanLooksAreTold) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    (void)findings();
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, 0, end(0));
    deliver(kOther, 0, end(1));
    commit("billing", {{kOld, Offset{end(0)}}, {kOther, Offset{end(1)}}, {{2}, Offset{end(2)}}, {{3}, Offset{end(3)}}});
    billing().committed = {Offset{end(0)}, Offset{end(1)}, Offset{end(2)}, Offset{end(3)}};
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_);
    EXPECT_EQ(number(*told, "processed_keys"), moved_);
    EXPECT_FALSE(finding(HazardId::backlog_inversion));
    EXPECT_TRUE(wrong_order()) << "what was suffered stays told";
}

TEST_F(ConsumerOrderTest, ReadersOfAGroupThatHadReadEverythingAreNoMatter) {
    billing().committed = {Offset{kOldRecords}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
    (void)findings();
    deliver({2}, 0, end(2));
    (void)findings();
    // A person rewinds the group: these records were handed out before the growth.
    deliver(kOld, 0, end(0));
    deliver(kOther, 0, end(1));
    EXPECT_FALSE(wrong_order());
}

TEST_F(ConsumerOrderTest, AGroupThatCameAfterTheGrowthAndBeganAtTheStartIsTold) {
    billing().committed = {Offset{kOldRecords}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
    (void)findings();
    groups_.clear();
    add_group("late", kCoordinator);
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, 0, end(0));
    deliver(kOther, 0, end(1));
    const auto told = wrong_order("late");
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_);
}

TEST_F(ConsumerOrderTest, KeysWithBothRecordsInOneAnswerHaveTheirOwnNumber) {
    billing().committed = {Offset{0}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
    (void)findings();
    ++answer_;
    for (const std::int32_t partition : {1, 2, 3}) {
        deliver_too({partition}, partition == 1 ? kOtherRecords : 0, end(partition));
    }
    deliver_too(kOld, 0, end(0));
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_from_old_);
    EXPECT_EQ(number(*told, "one_answer_keys"), moved_from_old_);
}

TEST_F(ConsumerOrderTest, LooksThatRunOutOfTheirBudgetGoOnLater) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, 0, end(0));
    deliver(kOther, 0, end(1));
    int looks = 0;
    std::optional<Finding> told;
    do {
        ASSERT_LT(++looks, 1000);
        records_.budget = 7;
        told = wrong_order();
    } while (watch_.is_reading());
    EXPECT_GT(looks, 10);
    told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_);
}

// A read_uncommitted reader is ahead of what is decided. Records that may still be aborted prove nothing.
TEST_F(ConsumerOrderTest, RecordsThatAreNotDecidedYetAreWaitedFor) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    records_.decided_to = Offset{0};
    deliver({2}, 0, end(2));
    deliver(kOld, 0, end(0));
    deliver(kOther, 0, end(1));
    EXPECT_FALSE(wrong_order());
    records_.decided_to = Offset{INT64_MAX};
    EXPECT_TRUE(wrong_order());
}

TEST_F(ConsumerOrderTest, WhatWasHandedOutIsToldUntilTheOlderRecordsAreGone) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    (void)findings();
    deliver({2}, 0, end(2));
    deliver({3}, 0, end(3));
    deliver(kOld, 0, end(0));
    deliver(kOther, 0, end(1));
    ASSERT_TRUE(wrong_order());
    starts_[0] = Offset{kOldRecords};
    EXPECT_TRUE(wrong_order());
    starts_[1] = Offset{kOtherRecords};
    EXPECT_FALSE(wrong_order());
}

TEST_F(ConsumerOrderTest, ADeletedGroupIsForgotten) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    (void)findings();
    deliver({2}, 0, end(2));
    deliver(kOld, 0, end(0));
    ASSERT_TRUE(wrong_order());
    watch_.forget_group("billing");
    EXPECT_FALSE(wrong_order());
}

TEST_F(ConsumerOrderTest, DeliveriesThatWereLostMakeTheNumbersLowerBounds) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    (void)findings();
    deliver({2}, 0, end(2));
    deliver(kOld, 0, end(0));
    watch_.lose_deliveries();
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(number(*told, "is_exact"), 0);
    EXPECT_TRUE(told->condition.contains("at least")) << told->condition;
}

class IgnoredKeysTest : public ConsumerWatchTest {
  protected:
    IgnoredKeysTest() : ConsumerWatchTest({Offset{400}, Offset{400}}) { assign_everything(); }
};

// Producers that ignore keys put a key's records into any partition: there was no order before the growth either.
TEST_F(IgnoredKeysTest, HaveNothingToTell) {
    for (std::int64_t offset = 0; offset < 500; ++offset) {
        for (std::int32_t partition = 0; partition < 4; ++partition) {
            records_.keys[{partition}][Offset{offset}] = "key-" + std::to_string((offset * 7 + partition * 3) % 100);
        }
    }
    ends_.assign(4, Offset{500});
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    EXPECT_FALSE(finding(HazardId::backlog_inversion));
    deliver({2}, 0, 500);
    deliver(kOld, 0, 500);
    deliver({1}, 0, 500);
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerOrderTest, AKeyThatTwoGrowthsMovedCountsOnce) {
    billing().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    (void)findings();
    std::map<PartitionIndex, std::int64_t> ends;
    const std::vector<Offset> before = ends_;
    grow(8);
    billing().committed.resize(8, kNoOffset);
    billing().members[0].assigned = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
    for (std::int32_t partition = 0; partition < 4; ++partition) {
        for (std::int64_t offset = 0; offset < before[static_cast<std::size_t>(partition)].value; ++offset) {
            const std::string key = records_.keys[{partition}].at(Offset{offset});
            const PartitionIndex home = home_of(key, 8);
            if (home.value >= 4) {
                records_.keys[home][Offset{ends[home]++}] = key;
            }
        }
    }
    (void)findings();
    std::set<std::string> wrong;
    for (std::int32_t partition = 7; partition >= 0; --partition) {
        const std::int64_t to = partition < 4 ? before[static_cast<std::size_t>(partition)].value : ends[{partition}];
        if (to > 0) {
            deliver({partition}, 0, to);
        }
    }
    // Everything new came before everything old, so each key that moved at any growth is wrong.
    for (const PartitionIndex partition : {kOld, kOther}) {
        const std::int64_t cut = partition == kOld ? kOldRecords : kOtherRecords;
        for (std::int64_t offset = 0; offset < cut; ++offset) {
            const std::string& key = records_.keys[partition].at(Offset{offset});
            if (home_of(key, 4) != partition || home_of(key, 8) != partition) {
                wrong.insert(key);
            }
        }
    }
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, static_cast<std::int64_t>(wrong.size()));
}

}  // namespace
}  // namespace partita::insight
