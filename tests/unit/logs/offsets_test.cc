// Tests which offset the log service finds for a caller.

#include "broker/logs/offsets.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "broker/logs/log_bounds.h"
#include "tests/support/storage_fixture.h"

namespace partita::logs {
namespace {

class OffsetsTest : public ::testing::Test {
  protected:
    void append(const test::TestBatch& wanted, LeaderEpoch epoch = {0}) {
        auto batch = test::make_batch(wanted);
        ASSERT_TRUE(partition_.log->append(batch, {.leader_epoch = epoch, .now = {1}}));
    }
    void begin_transaction(TimestampMs timestamp) {
        append({.timestamp = timestamp, .producer_id = {7}, .producer_epoch = {0}, .base_sequence = {0}, .transactional = true});
    }
    [[nodiscard]] FoundOffset find(const OffsetQuery& query) {
        const auto found = find_offset(partition_, query);
        EXPECT_TRUE(found) << found.error().message;
        return found.value_or(FoundOffset{.offset = Offset{-2}});
    }
    [[nodiscard]] std::int64_t since(std::int64_t time) {
        const auto found = first_offset_since(partition_, TimestampMs{time});
        EXPECT_TRUE(found) << found.error().message;
        return found.value_or(Offset{-2}).value;
    }
    void expect_end(LeaderEpoch asked, LeaderEpoch epoch, Offset end) {
        const EpochEnd found = end_of_epoch(partition_, asked);
        EXPECT_EQ(found.leader_epoch, epoch);
        EXPECT_EQ(found.end_offset, end);
    }

    test::StorageWorld world_;
    Partition partition_{world_.shared_log(), fetch::PartitionKey{1}};
};

TEST_F(OffsetsTest, AnEmptyPartitionHasAStartAndAnEndButNoRecord) {
    for (const OffsetOf edge : {OffsetOf::start, OffsetOf::end}) {
        const FoundOffset found = find({.of = edge});
        EXPECT_EQ(found.offset, Offset{0});
        EXPECT_EQ(found.timestamp, kNoTimestamp);
        EXPECT_EQ(found.leader_epoch, LeaderEpoch{0});
    }
    EXPECT_EQ(find({.of = OffsetOf::greatest_timestamp}).offset, kNoOffset);
    EXPECT_EQ(find({.of = OffsetOf::time, .time = {0}}).offset, kNoOffset);
    EXPECT_EQ(since(0), 0);
}

TEST_F(OffsetsTest, TheStartMovesWithADeletionAndHasTheEpochOfItsRecord) {
    append({.records = 2}, {0});
    append({.records = 2}, {3});
    ASSERT_TRUE(partition_.log->delete_records_before(Offset{2}).value());
    const FoundOffset start = find({.of = OffsetOf::start});
    EXPECT_EQ(start.offset, Offset{2});
    EXPECT_EQ(start.leader_epoch, LeaderEpoch{3});
    EXPECT_EQ(start.timestamp, kNoTimestamp);
}

TEST_F(OffsetsTest, TheEndHasTheCurrentEpoch) {
    append({.records = 2}, {0});
    append({.records = 2}, {3});
    const FoundOffset end = find({.of = OffsetOf::end});
    EXPECT_EQ(end.offset, Offset{4});
    EXPECT_EQ(end.leader_epoch, LeaderEpoch{3});
}

TEST_F(OffsetsTest, ARecordIsFoundByItsTimeWithItsTimestampAndEpoch) {
    append({.timestamp = {100}}, {1});
    append({.timestamp = {300}}, {2});
    append({.timestamp = {200}}, {4});
    const FoundOffset later = find({.of = OffsetOf::time, .time = {101}});
    EXPECT_EQ(later.offset, Offset{1});
    EXPECT_EQ(later.timestamp, TimestampMs{300});
    EXPECT_EQ(later.leader_epoch, LeaderEpoch{2});
    const FoundOffset greatest = find({.of = OffsetOf::greatest_timestamp});
    EXPECT_EQ(greatest.offset, Offset{1});
    EXPECT_EQ(greatest.timestamp, TimestampMs{300});
    EXPECT_EQ(greatest.leader_epoch, LeaderEpoch{2});
    EXPECT_EQ(find({.of = OffsetOf::time, .time = {301}}).offset, kNoOffset);
    EXPECT_EQ(since(100), 0);
    EXPECT_EQ(since(300), 1);
    EXPECT_EQ(since(301), 3) << "the end stands for the record that does not exist";
}

TEST_F(OffsetsTest, AnOpenTransactionHidesWhatFollowsFromACommittedReader) {
    append({.timestamp = {100}});
    begin_transaction({200});
    append({.timestamp = {300}});
    for (const OffsetOf of : {OffsetOf::end, OffsetOf::greatest_timestamp, OffsetOf::time}) {
        const bool is_edge = of == OffsetOf::end;
        EXPECT_EQ(find({.of = of, .time = {200}, .is_committed = true}).offset, is_edge ? Offset{1} : kNoOffset);
    }
    EXPECT_EQ(find({.of = OffsetOf::end}).offset, Offset{3});
    EXPECT_EQ(find({.of = OffsetOf::greatest_timestamp}).offset, Offset{2});
    EXPECT_EQ(find({.of = OffsetOf::time, .time = {200}}).offset, Offset{1});
    EXPECT_EQ(find({.of = OffsetOf::time, .time = {100}, .is_committed = true}).offset, Offset{0});
    EXPECT_EQ(since(200), 1) << "people see records of all transactions";
}

TEST_F(OffsetsTest, ASearchInADeletedPartitionFailsButItsEdgesStay) {
    append({});
    ASSERT_TRUE(world_.directory->remove(partition_.log));
    for (const OffsetOf of : {OffsetOf::greatest_timestamp, OffsetOf::time}) {
        const auto found = find_offset(partition_, {.of = of, .time = {1}});
        ASSERT_FALSE(found);
        EXPECT_EQ(found.error().outcome, Outcome::storage_failed);
        EXPECT_EQ(found.error().message, "the log is closed");
    }
    const auto found = first_offset_since(partition_, {1});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().outcome, Outcome::storage_failed);
    EXPECT_EQ(find({.of = OffsetOf::end}).offset, Offset{1});
}

TEST_F(OffsetsTest, AnEpochEndsWhereTheNextBegins) {
    append({.records = 3}, {0});
    append({.records = 4}, {2});
    expect_end({0}, {0}, {3});
    expect_end({1}, {0}, {3});
    expect_end({3}, kNoLeaderEpoch, kNoOffset);
}

TEST_F(OffsetsTest, TheCurrentEpochEndsAtTheEndEvenBeforeItsFirstRecord) {
    expect_end({0}, {0}, {0});
    append({.records = 3}, {0});
    append({.records = 4}, {2});
    expect_end({2}, {2}, {7});
}

TEST_F(OffsetsTest, TheBoundsOfAPartitionEndWhatIsStableAtAnOpenTransaction) {
    append({.records = 2});
    EXPECT_EQ(log_bounds(partition_), (LogBounds{{0}, {2}, {2}}));
    EXPECT_FALSE(log_bounds(partition_).has_open_transaction());
    begin_transaction({1});
    EXPECT_EQ(log_bounds(partition_), (LogBounds{{0}, {2}, {3}}));
    EXPECT_TRUE(log_bounds(partition_).has_open_transaction());
}

}  // namespace
}  // namespace partita::logs
