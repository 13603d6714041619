// Tests which batches a partition takes from producers of transactions, and which from their coordinators (KIP-890, KIP-1228).

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "storage/producer_state.h"

namespace partita {
namespace {

class TransactionVerificationTest : public ::testing::Test {
  protected:
    static constexpr ProducerId kProducer{7};

    BatchHeader batch(std::int32_t sequence, std::int16_t epoch = 0, bool is_transactional = true) {
        BatchHeader header;
        header.base_offset = next_offset_;
        header.producer_id = kProducer;
        header.producer_epoch = {epoch};
        header.base_sequence = {sequence};
        header.record_count = 1;
        if (is_transactional) {
            header.attributes.bits |= BatchAttributes::kTransactionalBit;
        }
        return header;
    }
    TransactionVerification ask(std::int32_t sequence, std::int16_t epoch = 0, bool bumps_epoch = false) {
        const auto verification = state_.begin_verification(batch(sequence, epoch), bumps_epoch, now_).value();
        EXPECT_TRUE(verification.has_value());
        return verification.value_or(kNotVerified);
    }
    /// Returns the failure; nothing when the log took the batch.
    std::optional<AppendFailure> add(const BatchHeader& header, const AppendContext& context) {
        return take(state_.prepare(header, std::nullopt, context));
    }
    std::optional<AppendFailure> add(const BatchHeader& header, TransactionVerification verification) {
        return add(header, {.now = now_, .verification = verification});
    }
    std::optional<AppendFailure> end(std::int16_t epoch, bool bumps_epoch, std::int32_t coordinator_epoch = 0) {
        return take(state_.prepare(batch(-1, epoch), ControlMarker{.is_commit = true, .coordinator_epoch = coordinator_epoch},
                                   {.now = now_, .marker_bumps_epoch = bumps_epoch}));
    }
    [[nodiscard]] bool is_open() const { return state_.first_open_transaction().has_value(); }

    ProducerState state_;
    ProducerState::Undo undo_;
    TimestampMs now_{1000};

  private:
    std::optional<AppendFailure> take(ProducerState::Prepared prepared) {
        if (!prepared) {
            return prepared.error().failure;
        }
        undo_ = state_.commit(std::get<ProducerState::Update>(*prepared));
        next_offset_ = next_offset_ + 1;
        return std::nullopt;
    }

    Offset next_offset_{0};
};

TEST_F(TransactionVerificationTest, ATransactionBeginsWithABatchThatWasVerified) {
    EXPECT_EQ(add(batch(0), kNotVerified), AppendFailure::invalid_transaction_state);
    EXPECT_EQ(add(batch(0), ask(0)), std::nullopt);
    EXPECT_TRUE(is_open());
}

TEST_F(TransactionVerificationTest, NobodyIsAskedForFurtherBatches) {
    ASSERT_EQ(add(batch(0), ask(0)), std::nullopt);
    EXPECT_EQ(state_.begin_verification(batch(1), false, now_).value(), std::nullopt);
    EXPECT_EQ(add(batch(1), kNotVerified), std::nullopt);
}

TEST_F(TransactionVerificationTest, EveryTransactionIsVerifiedAnew) {
    ASSERT_EQ(add(batch(0), ask(0)), std::nullopt);
    ASSERT_EQ(end(0, false), std::nullopt);
    EXPECT_EQ(add(batch(1), kNotVerified), AppendFailure::invalid_transaction_state);
    EXPECT_EQ(add(batch(1), ask(1)), std::nullopt);
}

TEST_F(TransactionVerificationTest, AnAnswerThatAMarkerOvertookOpensNothing) {
    const TransactionVerification old = ask(0);
    ASSERT_EQ(end(0, false), std::nullopt);
    EXPECT_EQ(add(batch(0), old), AppendFailure::invalid_transaction_state);
    // The old answer opens nothing after a newer question, either.
    const TransactionVerification newer = ask(0);
    EXPECT_NE(newer, old);
    EXPECT_EQ(add(batch(0), old), AppendFailure::invalid_transaction_state);
    EXPECT_EQ(add(batch(0), newer), std::nullopt);
}

TEST_F(TransactionVerificationTest, ANewEpochAsksForItself) {
    const TransactionVerification old = ask(0, 0);
    const TransactionVerification newer = ask(0, 1);
    EXPECT_NE(newer, old);
    EXPECT_EQ(add(batch(0, 1), newer), std::nullopt);
}

TEST_F(TransactionVerificationTest, NoBatchIsLeftOutWhoseQuestionFailed) {
    ASSERT_NE(ask(0), kNotVerified);  // The answer is an error, and the client comes again.
    const TransactionVerification second = ask(3);
    EXPECT_EQ(add(batch(3), second), AppendFailure::out_of_order_sequence);
    EXPECT_EQ(add(batch(0), ask(0)), std::nullopt);
}

TEST_F(TransactionVerificationTest, WithEpochsThatRiseAnUnknownProducerBeginsWithItsFirstSequence) {
    EXPECT_EQ(add(batch(5), ask(5, 0, true)), AppendFailure::out_of_order_sequence);
    EXPECT_EQ(add(batch(0), ask(0, 0, true)), std::nullopt);
}

TEST_F(TransactionVerificationTest, WithoutThemAnUnknownProducerMayGoOn) { EXPECT_EQ(add(batch(5), ask(5)), std::nullopt); }

TEST_F(TransactionVerificationTest, BatchesAreTakenUnaskedWhereNobodyVerifies) {
    EXPECT_EQ(add(batch(0), AppendContext{.now = now_}), std::nullopt);
}

TEST_F(TransactionVerificationTest, PlainBatchesNeedNone) {
    EXPECT_EQ(add(batch(0, 0, false), kNotVerified), std::nullopt);
    ASSERT_EQ(add(batch(1), ask(1)), std::nullopt);
    EXPECT_EQ(add(batch(2, 0, false), kNotVerified), AppendFailure::invalid_transaction_state);
}

TEST_F(TransactionVerificationTest, AnAppendThatFailedLeavesTheQuestionAsItWas) {
    const TransactionVerification verification = ask(0);
    ASSERT_EQ(add(batch(0), verification), std::nullopt);
    state_.restore(undo_);
    EXPECT_FALSE(is_open());
    EXPECT_EQ(ask(1), verification);
    EXPECT_EQ(add(batch(1), verification), AppendFailure::out_of_order_sequence);
    EXPECT_EQ(add(batch(0), verification), std::nullopt);
}

TEST_F(TransactionVerificationTest, QuestionsAreForgottenWithTheProducersThatWereIdle) {
    const TransactionVerification first = ask(0);
    state_.expire({1999}, 1000);
    EXPECT_EQ(ask(0), first);
    state_.expire({2000}, 1000);
    EXPECT_NE(ask(0), first);
}

TEST_F(TransactionVerificationTest, MoreQuestionsThanTheBoundForgetTheOldest) {
    for (std::int64_t id = 0; id <= static_cast<std::int64_t>(ProducerState::kMaximumProducers); ++id) {
        BatchHeader header = batch(0);
        header.producer_id = {1000 + id};
        ASSERT_TRUE(state_.begin_verification(header, false, {id}).value().has_value());
    }
    BatchHeader oldest = batch(0);
    oldest.producer_id = {1000};
    BatchHeader newest = oldest;
    newest.producer_id = {1000 + static_cast<std::int64_t>(ProducerState::kMaximumProducers)};
    const std::uint64_t asked = ProducerState::kMaximumProducers + 1;
    EXPECT_EQ(state_.begin_verification(newest, false, now_).value(), TransactionVerification{asked});
    EXPECT_EQ(state_.begin_verification(oldest, false, now_).value(), TransactionVerification{asked + 1});
}

TEST_F(TransactionVerificationTest, AMarkerOfItsEpochEndsATransactionOfTheFirstProtocol) {
    ASSERT_EQ(add(batch(0), ask(0)), std::nullopt);
    EXPECT_EQ(end(0, false), std::nullopt);
    EXPECT_FALSE(is_open());
    EXPECT_EQ(end(0, false), std::nullopt) << "and a second one does nothing";
}

TEST_F(TransactionVerificationTest, WithEpochsThatRiseAMarkerOfTheOpenEpochComesTooLate) {
    ASSERT_EQ(add(batch(0, 1), ask(0, 1, true)), std::nullopt);
    EXPECT_EQ(end(1, true), AppendFailure::invalid_producer_epoch);
    EXPECT_EQ(end(0, true), AppendFailure::invalid_producer_epoch);
    EXPECT_TRUE(is_open());
    EXPECT_EQ(end(2, true), std::nullopt);
    EXPECT_FALSE(is_open());
    EXPECT_EQ(end(2, true), std::nullopt) << "a marker that is written a second time, after a restart";
    EXPECT_EQ(end(1, true), AppendFailure::invalid_producer_epoch);
}

TEST_F(TransactionVerificationTest, MarkersOfAnEarlierCoordinatorAreRefused) {
    ASSERT_EQ(end(0, false, 5), std::nullopt);
    EXPECT_EQ(end(0, false, 4), AppendFailure::coordinator_fenced);
    EXPECT_EQ(end(0, false, 5), std::nullopt);
}

TEST_F(TransactionVerificationTest, OffsetsOfAGroupHaveAnEpochAndNoSequence) {
    const AppendContext context{.now = now_, .origin = AppendOrigin::coordinator};
    EXPECT_EQ(add(batch(-1, 3), context), std::nullopt);
    EXPECT_EQ(add(batch(-1, 3), context), std::nullopt) << "and are no repetition of each other";
    EXPECT_TRUE(is_open());
    EXPECT_EQ(add(batch(-1, 2), context), AppendFailure::invalid_producer_epoch);
}

}  // namespace
}  // namespace partita
