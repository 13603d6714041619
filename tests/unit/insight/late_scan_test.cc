// Tests for the order of records from after a growth, some of which a producer placed by the old count.

#include "broker/insight/order/late_scan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "broker/insight/keys/key_table.h"
#include "broker/insight/order/delivery_order.h"
#include "tests/unit/insight/consumer_watch_fixture.h"

namespace partita::insight {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::int32_t kOldCount = 6;
constexpr std::int32_t kNewCount = 8;

/// A topic that grew from 6 to 8 partitions, with 10 records in each of the old ones.
class LateScanTest : public ::testing::Test {
  protected:
    LateScanTest() {
        for (std::int32_t partition = 0; partition < kOldCount; ++partition) {
            growth_.ends.push_back(Offset{10});
            ends_[{partition}] = 10;
        }
        while (home_of(key_, kOldCount) == home_of(key_, kNewCount)) {
            key_ += "+";
        }
        old_ = home_of(key_, kOldCount);
        new_ = home_of(key_, kNewCount);
    }

    static PartitionIndex home_of(const std::string& key, std::int32_t count) {
        return partitioners::partition_of(partitioners::Family::murmur2_pos, as_bytes(key), count);
    }
    static std::uint64_t hash_of(const std::string& key) { return KeyTable::hash_of(as_bytes(key)); }
    /// Returns the offset.
    Offset write(const std::string& key, std::int32_t count, std::int64_t time_ms) {
        return write_to(home_of(key, count), key, time_ms);
    }
    Offset write_to(PartitionIndex partition, const std::string& key, std::int64_t time_ms) {
        const Offset offset{ends_[partition]++};
        records_.keys[partition][offset] = key;
        records_.times[{partition, offset}] = TimestampMs{time_ms};
        return offset;
    }
    [[nodiscard]] LateScan scan(LateScan::Limits limits = {}, std::vector<Offset> ends = {}) const {
        return {std::span(&growth_, 1), TimestampMs{0}, std::move(ends),
                partitioners::FamilySet::of(partitioners::Family::murmur2_pos), limits};
    }
    void read_all(LateScan& scan) {
        for (std::int32_t partition = 0; partition < kNewCount; ++partition) {
            ASSERT_TRUE(scan.read(records_, {partition}, Offset{ends_[{partition}]}, now_));
        }
        scan.join();
    }
    [[nodiscard]] KeyCut cut(PartitionIndex from, Offset earlier, PartitionIndex to, Offset later) const {
        return {.key_hash = hash_of(key_), .from = from, .to = to, .earlier = earlier, .later = later};
    }

    TimestampMs now_{10'000'000};
    GrowthCut growth_{.old_count = kOldCount, .new_count = kNewCount, .ends = {}};
    std::map<PartitionIndex, std::int64_t> ends_;
    FakeRecords records_;
    std::string key_ = "key";
    PartitionIndex old_;
    PartitionIndex new_;
};

TEST_F(LateScanTest, TheLastRecordByTheOldCountComesBeforeTheFirstByTheNewOne) {
    for (int time = 1; time <= 100; ++time) {
        write(key_, kOldCount, time);
    }
    for (int time = 101; time <= 200; ++time) {
        write(key_, kNewCount, time);
    }
    LateScan scan = this->scan();
    read_all(scan);
    EXPECT_THAT(scan.table().cuts(), ElementsAre(cut(old_, Offset{109}, new_, records_.keys[new_].begin()->first)));
    EXPECT_TRUE(scan.is_exact()) << "each has more than the scan remembers, and they did not take turns";
    EXPECT_EQ(scan.late_ends()[static_cast<std::size_t>(old_.value)], Offset{110});
}

TEST_F(LateScanTest, ItDoesNotMatterWhichPartitionIsReadFirst) {
    const Offset earlier = write(key_, kOldCount, 1);
    const Offset later = write(key_, kNewCount, 2);
    for (const bool is_new_first : {true, false}) {
        LateScan scan = this->scan();
        for (const PartitionIndex partition : {is_new_first ? new_ : old_, is_new_first ? old_ : new_}) {
            ASSERT_TRUE(scan.read(records_, partition, Offset{ends_[partition]}, now_));
            scan.join();
        }
        EXPECT_THAT(scan.table().cuts(), ElementsAre(cut(old_, earlier, new_, later)));
    }
}

TEST_F(LateScanTest, ALateRecordMayBeTheNewerOne) {
    const Offset earlier = write(key_, kNewCount, 1);
    const Offset later = write(key_, kOldCount, 2);
    LateScan scan = this->scan();
    read_all(scan);
    EXPECT_THAT(scan.table().cuts(), ElementsAre(cut(new_, earlier, old_, later)));
}

TEST_F(LateScanTest, RecordsOfOneTimeAreInNoOrder) {
    write(key_, kOldCount, 1);
    write(key_, kNewCount, 1);
    LateScan scan = this->scan();
    read_all(scan);
    EXPECT_THAT(scan.table().cuts(), IsEmpty());
}

TEST_F(LateScanTest, WritersThatTakeTurnsHaveACutForEachTurn) {
    const Offset first = write(key_, kOldCount, 1);
    const Offset second = write(key_, kNewCount, 2);
    const Offset third = write(key_, kOldCount, 3);
    const Offset fourth = write(key_, kNewCount, 4);
    LateScan scan = this->scan();
    read_all(scan);
    EXPECT_THAT(scan.table().cuts(), UnorderedElementsAre(cut(old_, first, new_, second), cut(old_, third, new_, fourth),
                                                          cut(new_, second, old_, third)));
}

// Producers write many records of a key in a millisecond.
TEST_F(LateScanTest, TheTurnMayComeWithinAMillisecond) {
    for (int time = 1; time <= 3 * static_cast<int>(LateScan::kRecordsMax); ++time) {
        write(key_, kOldCount, time / 3);
    }
    const Offset older{ends_[old_] - 2};
    const std::int64_t last = LateScan::kRecordsMax;
    const Offset first{ends_[new_]};
    for (int number = 0; number <= 3 * static_cast<int>(LateScan::kRecordsMax); ++number) {
        write(key_, kNewCount, last + number / 3);
    }
    LateScan scan = this->scan();
    read_all(scan);
    EXPECT_TRUE(scan.is_exact());
    EXPECT_THAT(scan.table().cuts(), UnorderedElementsAre(cut(old_, older, new_, first),
                                                          cut(old_, Offset{older.value + 1}, new_, Offset{first.value + 3})));
}

TEST_F(LateScanTest, ManyTurnsThatAreNotRememberedMakeItInexact) {
    for (int time = 0; time <= 2 * static_cast<int>(LateScan::kRecordsMax); ++time) {
        write(key_, time % 2 == 0 ? kOldCount : kNewCount, time);
    }
    LateScan scan = this->scan();
    read_all(scan);
    EXPECT_FALSE(scan.is_exact());
}

// A producer that gives partitions itself knows what it does.
TEST_F(LateScanTest, RecordsThatNoCountExplainsAreLeftOut) {
    PartitionIndex neither{0};
    while (neither == old_ || neither == new_) {
        ++neither.value;
    }
    write_to(neither, key_, 1);
    write(key_, kNewCount, 2);
    LateScan scan = this->scan();
    read_all(scan);
    EXPECT_THAT(scan.table().cuts(), IsEmpty());
    EXPECT_THAT(scan.late_ends(), IsEmpty());
}

// Few keys do not tell it. Where a key was before the growth does.
TEST_F(LateScanTest, WithoutAPartitionerAKeyIsLateWhereItWasBefore) {
    KeyCuts homes;
    homes.add_before(old_, Offset{5}, hash_of(key_));
    const Offset earlier = write(key_, kOldCount, 1);
    const Offset later = write(key_, kNewCount, 2);
    std::string unknown = key_ + "?";
    while (home_of(unknown, kOldCount) == home_of(unknown, kNewCount)) {
        unknown += "?";
    }
    write(unknown, kOldCount, 1);
    write(unknown, kNewCount, 2);
    LateScan scan{std::span(&growth_, 1), TimestampMs{0}, {}, partitioners::FamilySet()};
    for (std::int32_t partition = 0; partition < kNewCount; ++partition) {
        ASSERT_TRUE(scan.read(records_, {partition}, Offset{ends_[{partition}]}, now_, &homes));
    }
    scan.join();
    EXPECT_THAT(scan.table().cuts(), ElementsAre(cut(old_, earlier, new_, later)));
}

TEST_F(LateScanTest, RecordsFromBeforeTheGrowthAndFromAfterTheNextOneAreNotItsOwn) {
    std::vector<Offset> next_ends;
    records_.keys[old_][Offset{5}] = key_;
    write(key_, kNewCount, 2);
    for (std::int32_t partition = 0; partition < kNewCount; ++partition) {
        next_ends.push_back(Offset{ends_[{partition}]});
    }
    write(key_, kOldCount, 1);
    LateScan scan = this->scan({}, next_ends);
    read_all(scan);
    EXPECT_THAT(scan.table().cuts(), IsEmpty());
    LateScan of_all = this->scan();
    read_all(of_all);
    EXPECT_EQ(of_all.table().cuts().size(), 1u);
}

TEST_F(LateScanTest, ALateRecordOfAKeyThatHadNoRoomMakesItInexact) {
    write("another", kNewCount, 1);
    write("one more", kNewCount, 1);
    LateScan scan = this->scan({.keys_max = 1});
    read_all(scan);
    EXPECT_TRUE(scan.is_exact()) << "no record is late";
    write(key_, kOldCount, 2);
    read_all(scan);
    EXPECT_FALSE(scan.is_exact());
}

TEST_F(LateScanTest, RecordsWithoutATimeMakeItInexact) {
    write(key_, kOldCount, kNoTimestamp.value);
    LateScan scan = this->scan();
    read_all(scan);
    EXPECT_FALSE(scan.is_exact());
}

TEST_F(LateScanTest, TimestampsInTheFutureTellNothing) {
    write(key_, kOldCount, now_.value + 1);
    write(key_, kNewCount, now_.value);
    LateScan scan = this->scan();
    read_all(scan);
    EXPECT_THAT(scan.table().cuts(), IsEmpty());
    EXPECT_FALSE(scan.is_exact());
}

// An application gives the times of its events.
TEST_F(LateScanTest, TimestampsThatAreOlderThanTheirRecordsTellNothing) {
    write(key_, kOldCount, -LateScan::kOnTheWayMs);
    const Offset later = write(key_, kNewCount, 10);
    LateScan scan = this->scan();
    read_all(scan);
    EXPECT_TRUE(scan.is_exact()) << "it may have been on the way when the topic grew";
    EXPECT_THAT(scan.table().cuts(), ElementsAre(cut(old_, Offset{10}, new_, later)));
    write(key_, kNewCount, 3'600'000);
    write(key_, kNewCount, 11);
    read_all(scan);
    EXPECT_FALSE(scan.is_exact());
    EXPECT_EQ(scan.table().cuts().size(), 1u);
    LateScan later_growth(std::span(&growth_, 1), TimestampMs{1}, {},
                          partitioners::FamilySet::of(partitioners::Family::murmur2_pos));
    read_all(later_growth);
    EXPECT_THAT(later_growth.table().cuts(), IsEmpty());
    EXPECT_FALSE(later_growth.is_exact());
}

TEST_F(LateScanTest, AKeyHasAMostCuts) {
    // Each round of reading finds a later record that is late, and older than all by the new count.
    const Offset later = write(key_, kNewCount, 1'000'000);
    LateScan scan = this->scan();
    for (std::size_t round = 0; round <= LateScan::kCutsOfKeyMax; ++round) {
        EXPECT_TRUE(scan.is_exact()) << round;
        write(key_, kOldCount, static_cast<std::int64_t>(round));
        read_all(scan);
    }
    EXPECT_EQ(scan.table().cuts().size(), LateScan::kCutsOfKeyMax);
    EXPECT_EQ(scan.table().cuts().front().later, later);
    EXPECT_FALSE(scan.is_exact());
}

/// Two producers write the same keys, one of which learns late. A reader reads the partitions in any order while they write, and
/// the scan reads in any order, too. The judgement has to be that of all pairs of records.
TEST_F(LateScanTest, RandomReadersGetTheVerdictOfAllPairs) {
    struct Record {
        std::string key;
        std::int64_t time = 0;
        std::uint64_t handed = 0;
    };
    std::size_t wrong_keys = 0;
    int exact_turns = 0;
    int exact_others = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
        std::mt19937 random(seed);
        records_ = {};
        for (std::int32_t partition = 0; partition < kNewCount; ++partition) {
            ends_[{partition}] = partition < kOldCount ? 10 : 0;
        }
        std::map<PartitionIndex, std::map<Offset, Record>> log;
        std::map<PartitionIndex, std::int64_t> positions = ends_;
        LateScan scan = this->scan();
        DeliveryOrder order;
        std::size_t known_cuts = 0;
        std::int64_t time = 0;
        const bool takes_turns = seed % 2 == 0;
        // A key counts once the last of its older records is handed out, so all are.
        for (std::uint64_t step = 1; step <= 60 || positions != ends_; ++step) {
            for (std::uint64_t more = step <= 60 ? random() % 4 : 0; more > 0; --more) {
                const std::string key = "key-" + std::to_string(random() % 12);
                const bool is_late = takes_turns ? random() % 3 == 0 : step < 30;
                time += static_cast<std::int64_t>(random() % 3);
                const PartitionIndex home = home_of(key, is_late ? kOldCount : kNewCount);
                log[home][write(key, is_late ? kOldCount : kNewCount, time)] = {.key = key, .time = time};
            }
            const PartitionIndex partition{static_cast<std::int32_t>(random() % kNewCount)};
            std::int64_t& position = positions[partition];
            const std::int64_t to = std::min(ends_[partition], position + static_cast<std::int64_t>(random() % 5));
            if (to == position) {
                continue;
            }
            // It does not matter how much else the scan has read.
            const PartitionIndex other{static_cast<std::int32_t>(random() % kNewCount)};
            ASSERT_TRUE(scan.read(records_, other, Offset{ends_[other]}, now_));
            ASSERT_TRUE(scan.read(records_, partition, Offset{to}, now_));
            scan.join();
            order.discover(scan.table(), std::exchange(known_cuts, scan.table().cuts().size()));
            order.hand_out({.reader = 1,
                            .answer = step,
                            .partition = partition,
                            .from = Offset{position},
                            .to = Offset{to},
                            .time = TimestampMs{static_cast<std::int64_t>(step)}},
                           scan.table());
            for (; position < to; ++position) {
                log[partition].at(Offset{position}).handed = step;
            }
        }
        std::set<std::string> wrong;
        for (const auto& [from, earlier_records] : log) {
            for (const auto& [to, later_records] : log) {
                for (const auto& [earlier_offset, earlier] : earlier_records) {
                    for (const auto& [later_offset, later] : later_records) {
                        const bool is_one_late = from != home_of(earlier.key, kNewCount) || to != home_of(later.key, kNewCount);
                        if (from != to && earlier.key == later.key && is_one_late && earlier.time < later.time &&
                            later.handed != 0 && earlier.handed > later.handed) {
                            wrong.insert(earlier.key);
                        }
                    }
                }
            }
        }
        std::set<std::uint64_t> expected;
        for (const std::string& key : wrong) {
            expected.insert(hash_of(key));
        }
        std::set<std::uint64_t> told;
        for (const WrongKey& key : order.wrong_keys()) {
            told.insert(key.cut.key_hash);
        }
        ASSERT_TRUE(std::ranges::includes(expected, told)) << seed;
        if (scan.is_exact()) {
            ASSERT_EQ(told, expected) << seed;
            ++(takes_turns ? exact_turns : exact_others);
            wrong_keys += wrong.size();
        }
    }
    EXPECT_EQ(exact_others, 200);
    EXPECT_GT(exact_turns, 20);
    EXPECT_GT(wrong_keys, 400u) << "the test would prove nothing";
}

}  // namespace
}  // namespace partita::insight
