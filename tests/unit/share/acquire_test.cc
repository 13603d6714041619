#include "tests/unit/share/share_fixture.h"

namespace partita::share {
namespace {

using enum RecordState;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AcquireTest : public SharePartitionTest {};

TEST_F(AcquireTest, NewRecordsAreOneRange) {
    EXPECT_THAT(fetch("a", {batch(0, 4), batch(5, 9)}), ElementsAre(range(0, 9)));
    EXPECT_EQ(partition_->start_offset(), Offset{0});
    EXPECT_EQ(partition_->end_offset(), Offset{9});
    EXPECT_EQ(partition_->next_fetch_offset(), Offset{10});
}

TEST_F(AcquireTest, ABatchOfTheLogIsNotCutByTheWantedCount) {
    EXPECT_THAT(fetch("a", {batch(0, 9), batch(10, 19), batch(20, 29)}, 15), ElementsAre(range(0, 19)));
}

TEST_F(AcquireTest, RangesEndAtTheBatchThatReachesTheBatchSize) {
    EXPECT_THAT(fetch("a", {batch(0, 9), batch(10, 19), batch(20, 29), batch(30, 39)}, 500, 15),
                ElementsAre(range(0, 19), range(20, 39)));
}

TEST_F(AcquireTest, RecordLimitModeCutsABatchAndLeavesTheRestAvailable) {
    mode_ = AcquireMode::record_limit;
    EXPECT_THAT(fetch("a", {batch(0, 9)}, 4), ElementsAre(range(0, 3)));
    EXPECT_EQ(partition_->next_fetch_offset(), Offset{4});
    EXPECT_THAT(fetch("b", {batch(0, 9)}, 4), ElementsAre(range(4, 7)));
    EXPECT_THAT(fetch("b", {batch(0, 9)}, 4), ElementsAre(range(8, 9)));
    EXPECT_EQ(partition_->next_fetch_offset(), Offset{10});
}

TEST_F(AcquireTest, AMemberGetsNothingThatAnotherHolds) {
    EXPECT_THAT(fetch("a", {batch(0, 9)}), ElementsAre(range(0, 9)));
    EXPECT_THAT(fetch("b", {batch(0, 9)}), IsEmpty());
    EXPECT_THAT(fetch("b", {batch(0, 9), batch(10, 19)}), ElementsAre(range(10, 19)));
}

TEST_F(AcquireTest, ReleasedRecordsComeAgainWithAHigherCount) {
    ASSERT_THAT(fetch("a", {batch(0, 9)}), ElementsAre(range(0, 9)));
    ASSERT_TRUE(acknowledge("a", 2, 4, {AcknowledgeType::release}));
    EXPECT_EQ(partition_->next_fetch_offset(), Offset{2});
    EXPECT_THAT(fetch("b", {batch(0, 9)}), ElementsAre(range(2, 4, 2)));
}

TEST_F(AcquireTest, TheLimitOfLocksHoldsBackNewRecords) {
    limits_.record_locks = 10;
    ASSERT_THAT(fetch("a", {batch(0, 9)}), ElementsAre(range(0, 9)));
    EXPECT_FALSE(partition_->can_acquire(limits_));
    EXPECT_THAT(fetch("b", {batch(10, 19)}), IsEmpty());
    // Records in flight may be delivered again.
    ASSERT_TRUE(acknowledge("a", 5, 9, {AcknowledgeType::release}));
    EXPECT_TRUE(partition_->can_acquire(limits_));
    EXPECT_THAT(fetch("b", {batch(0, 9), batch(10, 19)}), ElementsAre(range(5, 9, 2)));
    // A moved start makes room.
    ASSERT_TRUE(acknowledge("a", 0, 4, {AcknowledgeType::accept}));
    EXPECT_THAT(fetch("b", {batch(10, 19)}, 3), ElementsAre(range(10, 19)));
}

TEST_F(AcquireTest, RecordsThatFailedOftenComeFewAtATime) {
    ASSERT_THAT(fetch("a", {batch(0, 15)}), ElementsAre(range(0, 15)));
    for (const std::int16_t count : {2, 3}) {
        ASSERT_EQ(partition_->release("a", limits_).size(), 1u);
        ASSERT_THAT(fetch("a", {batch(0, 15)}), ElementsAre(range(0, 15, count)));
    }
    ASSERT_EQ(partition_->release("a", limits_).size(), 1u);
    // Three of five deliveries are used up: half of the batch, and nothing else with it.
    EXPECT_THAT(fetch("a", {batch(0, 15), batch(16, 31)}), ElementsAre(range(0, 7, 4)));
    ASSERT_EQ(partition_->release("a", limits_).size(), 1u);
    // The last delivery of each record is its own.
    EXPECT_THAT(fetch("a", {batch(0, 15), batch(16, 31)}), ElementsAre(range(0, 0, 5)));
    EXPECT_THAT(fetch("a", {batch(0, 15), batch(16, 31)}), ElementsAre(range(1, 1, 5)));
}

TEST_F(AcquireTest, RecordsThatFailedOftenDoNotComeBehindOthers) {
    begin(0, {state(0, 4, available, 1), state(5, 9, available, 3)});
    EXPECT_THAT(fetch("a", {batch(0, 9)}), ElementsAre(range(0, 4, 2)));
    EXPECT_THAT(fetch("a", {batch(0, 9)}), ElementsAre(range(5, 6, 4)));
}

TEST_F(AcquireTest, ARecordIsArchivedAfterItsLastDelivery) {
    limits_.delivery_count = 2;
    ASSERT_THAT(fetch("a", {batch(0, 0)}), ElementsAre(range(0, 0, 1)));
    ASSERT_THAT(partition_->release("a", limits_), ElementsAre(state(0, 0, available, 1)));
    ASSERT_THAT(fetch("a", {batch(0, 0)}), ElementsAre(range(0, 0, 2)));
    EXPECT_THAT(partition_->release("a", limits_), ElementsAre(state(0, 0, archived, 2)));
    EXPECT_TRUE(partition_->advance());
    EXPECT_EQ(partition_->start_offset(), Offset{1});
}

TEST_F(AcquireTest, OffsetsWithoutStateBetweenPersistedOnesAreNew) {
    begin(10, {state(15, 19, acknowledged), state(26, 30, available)});
    EXPECT_EQ(partition_->next_fetch_offset(), Offset{10});
    EXPECT_THAT(fetch("a", {batch(10, 40)}), ElementsAre(range(10, 14), range(20, 25), range(26, 30, 2), range(31, 40)));
    ASSERT_TRUE(acknowledge("a", 10, 14, {AcknowledgeType::accept}));
    EXPECT_EQ(partition_->start_offset(), Offset{20});
}

TEST_F(AcquireTest, OffsetsThatTheLogHasLostAreArchived) {
    begin(0, {state(0, 9, available)});
    // Compaction removed what was at 0 to 4: the read begins behind it.
    EXPECT_THAT(fetch("a", {batch(5, 9)}), ElementsAre(range(5, 9, 2)));
    ASSERT_TRUE(acknowledge("a", 5, 9, {AcknowledgeType::accept}));
    EXPECT_EQ(partition_->start_offset(), Offset{10});
}

TEST_F(AcquireTest, ReleasedRecordsThatTheLogHasLostDoNotFillTheLocks) {
    limits_.record_locks = 10;
    ASSERT_THAT(fetch("a", {batch(0, 9)}), ElementsAre(range(0, 9)));
    ASSERT_TRUE(acknowledge("a", 0, 9, {AcknowledgeType::release}));
    // Compaction removed all of them: the next read finds only what comes behind.
    EXPECT_THAT(fetch("b", {batch(10, 14)}), ElementsAre(range(10, 14)));
    EXPECT_EQ(partition_->start_offset(), Offset{10});
    EXPECT_TRUE(partition_->can_acquire(limits_));
}

TEST_F(AcquireTest, ARecordThatWasDeliveredMoreOftenThanAnyLimitStillComes) {
    limits_.delivery_count = 100;
    begin(0, {state(0, 9, available, 99)});
    EXPECT_THAT(fetch("a", {batch(0, 9)}), ElementsAre(range(0, 0, 100)));
}

TEST_F(AcquireTest, RecordsOfAbortedTransactionsAreLeftOutAndDone) {
    aborted_ = {{.producer_id = {7}, .first_offset = {2}}};
    const ReadBatch open{.base = {2}, .last = {3}, .producer_id = {7}, .is_transactional = true};
    const ReadBatch marker{.base = {6}, .last = {6}, .producer_id = {7}, .is_transactional = true, .is_marker = true};
    EXPECT_THAT(fetch("a", {batch(0, 1), open, batch(4, 5), marker, batch(7, 8)}), ElementsAre(range(0, 1), range(4, 8)));
    ASSERT_TRUE(acknowledge("a", 0, 1, {AcknowledgeType::accept}));
    EXPECT_EQ(partition_->start_offset(), Offset{4});
}

TEST_F(AcquireTest, AbortedRecordsAloneDoNotFillTheLocks) {
    limits_.record_locks = 4;
    aborted_ = {{.producer_id = {7}, .first_offset = {0}}};
    const ReadBatch open{.base = {0}, .last = {3}, .producer_id = {7}, .is_transactional = true};
    EXPECT_THAT(fetch("a", {open}), IsEmpty());
    EXPECT_TRUE(partition_->can_acquire(limits_));
    EXPECT_EQ(partition_->next_fetch_offset(), Offset{4});
}

TEST_F(AcquireTest, AMovedLogStartTakesAvailableRecordsAndLeavesHeldOnes) {
    begin(0, {state(0, 9, available)});
    ASSERT_THAT(fetch("a", {batch(0, 9), batch(10, 19)}), ElementsAre(range(0, 9, 2), range(10, 19)));
    ASSERT_TRUE(acknowledge("a", 3, 5, {AcknowledgeType::release}));
    partition_->log_start_moved({5});
    EXPECT_EQ(partition_->start_offset(), Offset{5});
    EXPECT_EQ(partition_->next_fetch_offset(), Offset{5});
    // Held records before the start may be acknowledged without effect.
    EXPECT_TRUE(acknowledge("a", 0, 2, {AcknowledgeType::accept}));
    EXPECT_THAT(fetch("a", {batch(5, 9)}), ElementsAre(range(5, 5, 3)));
    ASSERT_TRUE(acknowledge("a", 5, 19, {AcknowledgeType::accept}));
    // As in Kafka, the start waits for locks of records before it.
    EXPECT_EQ(partition_->start_offset(), Offset{5});
    EXPECT_THAT(let_locks_end(), ElementsAre(state(0, 2, archived, 2)));
    EXPECT_EQ(partition_->start_offset(), Offset{20});
}

TEST_F(AcquireTest, AMovedLogStartBeyondEverythingBeginsThere) {
    begin(5);
    partition_->log_start_moved({50});
    EXPECT_EQ(partition_->next_fetch_offset(), Offset{50});
    EXPECT_THAT(fetch("a", {batch(50, 59)}), ElementsAre(range(50, 59)));
}

TEST_F(AcquireTest, StateThatNoSharePartitionWritesIsNotValid) {
    EXPECT_FALSE(SharePartition::is_valid({5}, std::vector{state(4, 9, available)}));
    EXPECT_FALSE(SharePartition::is_valid({5}, std::vector{state(9, 8, available)}));
    EXPECT_TRUE(SharePartition::is_valid({5}, std::vector{state(5, 9, available)}));
}

}  // namespace
}  // namespace partita::share
