#include "broker/insight/order/growth_scan.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "broker/partitioners/families.h"
#include "tests/unit/insight/consumer_watch_fixture.h"

namespace partita::insight {
namespace {

constexpr partitioners::Family kFamily = partitioners::Family::murmur2_pos;

PartitionIndex home_of(const std::string& key, std::int32_t count) {
    return partitioners::partition_of(kFamily, as_bytes(key), count);
}

/// Writes records as a producer with that count would.
class GrowthScanTest : public ::testing::Test {
  protected:
    void write(int key, std::int32_t count) {
        const std::string text = "key-" + std::to_string(key);
        const PartitionIndex home = home_of(text, count);
        records_.keys[home][Offset{ends_[home]++}] = text;
    }
    GrowthCut grow(std::int32_t from, std::int32_t to) {
        GrowthCut cut{.old_count = from, .new_count = to, .ends = {}};
        for (std::int32_t partition = 0; partition < from; ++partition) {
            cut.ends.push_back(Offset{ends_[{partition}]});
        }
        cuts_.push_back(cut);
        return cut;
    }
    [[nodiscard]] GrowthScan scan(partitioners::FamilySet families = {}) { return GrowthScan(cuts_, {}, families); }
    [[nodiscard]] std::int64_t moved(const GrowthScan& scan) {
        std::int64_t records = 0;
        for (std::int32_t partition = 0; partition < cuts_.back().old_count; ++partition) {
            records += scan.moved_from({partition}, Offset{0}).value_or(-1'000'000);
        }
        return records;
    }

    FakeRecords records_;
    std::map<PartitionIndex, std::int64_t> ends_;
    std::vector<GrowthCut> cuts_;
};

TEST_F(GrowthScanTest, FindsThePartitionerAndTheRecordsWhoseKeysMove) {
    std::int64_t expected = 0;
    // It judges in the middle of a partition.
    for (int key = 0; key < 4200; ++key) {
        write(key, 6);
        const std::string text = "key-" + std::to_string(key);
        expected += home_of(text, 6) != home_of(text, 8) ? 1 : 0;
    }
    grow(6, 8);
    GrowthScan scan = this->scan();
    EXPECT_FALSE(scan.moved_from({0}, Offset{0}));
    ASSERT_TRUE(scan.read_before(records_));
    EXPECT_EQ(moved(scan), expected);
    EXPECT_TRUE(scan.do_keys_count());
    EXPECT_TRUE(scan.has_all_moved());
}

// They write by the count from before the first growth when the second one comes.
TEST_F(GrowthScanTest, FindsThePartitionerOfProducersThatDidNotLearnOfAGrowth) {
    for (int key = 0; key < 200; ++key) {
        write(key, 6);
    }
    grow(6, 8);
    for (int key = 0; key < 200; ++key) {
        write(key, key % 2 == 0 ? 6 : 8);
    }
    grow(8, 12);
    GrowthScan scan = this->scan();
    ASSERT_TRUE(scan.read_before(records_));
    EXPECT_TRUE(scan.do_keys_count());
    EXPECT_GT(moved(scan), 0);
}

TEST_F(GrowthScanTest, TakesThePartitionerThatIsKnownIfTheRecordsDoNotTell) {
    for (int key = 0; key < 20; ++key) {
        write(key, 6);
    }
    grow(6, 8);
    GrowthScan alone = scan();
    ASSERT_TRUE(alone.read_before(records_));
    EXPECT_FALSE(alone.moved_from({0}, Offset{0})) << "too few keys";
    GrowthScan told = scan(partitioners::FamilySet::of(kFamily));
    ASSERT_TRUE(told.read_before(records_));
    EXPECT_GT(moved(told), 0);
}

TEST_F(GrowthScanTest, HasTheCutsOfTheRecordsThatItHasRead) {
    for (int key = 0; key < 100; ++key) {
        write(key, 6);
    }
    grow(6, 8);
    for (int key = 0; key < 100; ++key) {
        write(key, 8);
    }
    GrowthScan scan = this->scan();
    ASSERT_TRUE(scan.read_before(records_));
    EXPECT_TRUE(scan.cuts().table().cuts().empty());
    ASSERT_TRUE(scan.read_after(records_, {6}, Offset{ends_[{6}]}));
    EXPECT_EQ(scan.cuts().table().cuts().size(), static_cast<std::size_t>(ends_[{6}]));
    for (std::int32_t partition = 0; partition < 8; ++partition) {
        ASSERT_TRUE(scan.read_after(records_, {partition}, Offset{ends_[{partition}]}));
    }
    EXPECT_EQ(static_cast<std::int64_t>(scan.cuts().table().cuts().size()), moved(scan)) << "each key was written once before";
}

TEST_F(GrowthScanTest, LeavesOutRecordsWithAnEmptyKey) {
    records_.keys[{0}][Offset{0}] = "";
    ends_[{0}] = 1;
    grow(1, 2);
    records_.keys[{1}][Offset{0}] = "";
    GrowthScan scan = this->scan();
    ASSERT_TRUE(scan.read_before(records_));
    ASSERT_TRUE(scan.read_after(records_, {1}, Offset{1}));
    EXPECT_FALSE(scan.do_keys_count());
    EXPECT_TRUE(scan.cuts().table().cuts().empty());
}

}  // namespace
}  // namespace partita::insight
