#include "tests/unit/share/share_fixture.h"

namespace partita::share {
namespace {

using enum RecordState;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AcknowledgeTest : public SharePartitionTest {
  protected:
    AcknowledgeTest() { EXPECT_THAT(fetch("a", {batch(0, 9)}), ElementsAre(range(0, 9))); }
};

TEST_F(AcknowledgeTest, AnAcceptedBatchMovesTheStart) {
    EXPECT_THAT(acknowledge("a", 0, 9, {AcknowledgeType::accept}).value(), ElementsAre(state(0, 9, acknowledged)));
    EXPECT_EQ(partition_->start_offset(), Offset{10});
    EXPECT_EQ(partition_->in_flight_count(), 0);
}

TEST_F(AcknowledgeTest, APartIsToldApart) {
    EXPECT_THAT(acknowledge("a", 3, 5, {AcknowledgeType::accept}).value(), ElementsAre(state(3, 5, acknowledged)));
    EXPECT_EQ(partition_->start_offset(), Offset{0});
    EXPECT_EQ(partition_->delivery_complete_count(), 3);
    EXPECT_THAT(acknowledge("a", 0, 2, {AcknowledgeType::reject}).value(), ElementsAre(state(0, 2, archived)));
    EXPECT_EQ(partition_->start_offset(), Offset{6});
    EXPECT_EQ(partition_->delivery_complete_count(), 0);
}

TEST_F(AcknowledgeTest, EachRecordMayHaveItsOwnType) {
    using enum AcknowledgeType;
    EXPECT_THAT(acknowledge("a", 0, 5, {accept, accept, release, reject, gap, accept}).value(),
                ElementsAre(state(0, 1, acknowledged), state(2, 2, available), state(3, 3, archived), state(4, 4, archived),
                            state(5, 5, acknowledged)));
    EXPECT_EQ(partition_->start_offset(), Offset{2});
    EXPECT_EQ(partition_->next_fetch_offset(), Offset{2});
}

TEST_F(AcknowledgeTest, ARenewedLockBeginsAnew) {
    now_ = now_ + (limits_.lock_duration_ms - 1);
    EXPECT_THAT(acknowledge("a", 0, 4, {AcknowledgeType::renew}).value(), IsEmpty());
    now_ = now_ + 1;
    EXPECT_THAT(partition_->end_locks(now_, limits_), ElementsAre(state(5, 9, available)));
    EXPECT_EQ(partition_->next_lock_end(), Instant{now_.value - 1 + limits_.lock_duration_ms});
    limits_.may_renew = false;
    EXPECT_EQ(refusal("a", 0, 4, {AcknowledgeType::renew}), "Renewing acquisition locks is not enabled for the group.");
}

TEST_F(AcknowledgeTest, OnlyTheHolderMayAcknowledge) {
    EXPECT_EQ(refusal("b", 0, 9, {AcknowledgeType::accept}), "Member is not the owner of batch record");
    ASSERT_TRUE(acknowledge("a", 0, 0, {AcknowledgeType::accept}));
    EXPECT_EQ(refusal("b", 1, 9, {AcknowledgeType::accept}), "Member is not the owner of offset");
}

TEST_F(AcknowledgeTest, NothingIsAcknowledgedTwice) {
    ASSERT_TRUE(acknowledge("a", 5, 9, {AcknowledgeType::accept}));
    EXPECT_EQ(refusal("a", 5, 9, {AcknowledgeType::accept}), "The offset cannot be acknowledged. The offset is not acquired.");
    ASSERT_EQ(fetch("a", {batch(10, 19)}).size(), 1u);
    ASSERT_TRUE(acknowledge("a", 10, 19, {AcknowledgeType::release}));
    EXPECT_EQ(refusal("a", 10, 19, {AcknowledgeType::accept}),
              "The batch cannot be acknowledged. The batch is not in the acquired state.");
}

TEST_F(AcknowledgeTest, RecordsThatWereNeverDeliveredAreRefused) {
    EXPECT_EQ(refusal("a", 8, 12, {AcknowledgeType::accept}, ErrorCode::invalid_request),
              "Batch record not found. The last offset in request is past acquired records.");
    EXPECT_EQ(refusal("a", 20, 22, {AcknowledgeType::accept}, ErrorCode::invalid_request),
              "Batch record not found. The first offset in request is past acquired records.");
    begin(5);
    EXPECT_EQ(refusal("a", 7, 8, {AcknowledgeType::accept}),
              "Batch record not found. The request batch offsets are not found in the cache.");
}

TEST_F(AcknowledgeTest, WhatIsDoneLongAgoIsAcceptedWithoutEffect) {
    ASSERT_TRUE(acknowledge("a", 0, 9, {AcknowledgeType::accept}));
    EXPECT_THAT(acknowledge("b", 0, 9, {AcknowledgeType::reject}).value(), IsEmpty());
}

TEST_F(AcknowledgeTest, AnUnknownTypeIsRefused) {
    EXPECT_EQ(refusal("a", 0, 1, {AcknowledgeType::accept, static_cast<AcknowledgeType>(9)}, ErrorCode::invalid_request),
              "Invalid acknowledge type: [1, 9]");
}

TEST_F(AcknowledgeTest, ARefusalTakesBackTheWholeRequest) {
    const std::vector<AcknowledgeType> accept{AcknowledgeType::accept};
    const Acknowledgement given[] = {{{0}, {3}, accept}, {{2}, {5}, accept}};
    const auto result = partition_->acknowledge("a", given, limits_, now_);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(partition_->delivery_complete_count(), 0);
    EXPECT_THAT(let_locks_end(), ElementsAre(state(0, 9, available)));
}

TEST_F(AcknowledgeTest, ARefusalTakesBackRepeatedRenewalsOfABatch) {
    const Instant locked_until = *partition_->next_lock_end();
    now_ = now_ + 100;
    const std::vector<AcknowledgeType> renew{AcknowledgeType::renew};
    std::vector<Acknowledgement> given(1000, {{5}, {5}, renew});
    given.push_back({{20}, {20}, renew});
    EXPECT_FALSE(partition_->acknowledge("a", given, limits_, now_));
    EXPECT_EQ(partition_->next_lock_end(), locked_until);
    EXPECT_TRUE(acknowledge("a", 0, 9, {AcknowledgeType::accept}));
    EXPECT_EQ(partition_->start_offset(), Offset{10});
}

TEST_F(AcknowledgeTest, ALockEndsAfterItsTime) {
    now_ = now_ + 10;
    ASSERT_EQ(fetch("b", {batch(10, 19)}).size(), 1u);
    ASSERT_TRUE(acknowledge("a", 2, 3, {AcknowledgeType::accept}));
    now_ = Instant{1000} + (limits_.lock_duration_ms - 1);
    EXPECT_THAT(partition_->end_locks(now_, limits_), IsEmpty());
    now_ = now_ + 1;
    EXPECT_THAT(partition_->end_locks(now_, limits_), ElementsAre(state(0, 1, available), state(4, 9, available)));
    EXPECT_EQ(partition_->next_lock_end(), now_ + 10);
    EXPECT_EQ(partition_->next_fetch_offset(), Offset{0});
    EXPECT_EQ(refusal("a", 0, 1, {AcknowledgeType::accept}), "The offset cannot be acknowledged. The offset is not acquired.");
}

TEST_F(AcknowledgeTest, AMemberThatLeavesGivesBackOnlyItsOwnRecords) {
    ASSERT_EQ(fetch("b", {batch(10, 19)}).size(), 1u);
    EXPECT_THAT(partition_->release("a", limits_), ElementsAre(state(0, 9, available)));
    EXPECT_TRUE(acknowledge("b", 10, 19, {AcknowledgeType::accept}));
    EXPECT_THAT(partition_->release("nobody", limits_), IsEmpty());
}

TEST_F(AcknowledgeTest, HeldRecordsThatTheLogLostAreDoneWhenGivenBack) {
    partition_->log_start_moved({4});
    EXPECT_THAT(partition_->release("a", limits_), ElementsAre(state(0, 3, archived), state(4, 9, available)));
    EXPECT_EQ(partition_->delivery_complete_count(), 0);
    EXPECT_EQ(partition_->next_fetch_offset(), Offset{4});
}

}  // namespace
}  // namespace partita::share
