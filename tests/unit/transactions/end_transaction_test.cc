#include "tests/unit/transactions/transaction_fixture.h"

namespace partita::transactions::testing {
namespace {

constexpr TransactionVersion kFirst = TransactionVersion::v0;
constexpr bool kCommit = true;
constexpr bool kAbort = false;

class EndTransactionTest : public TransactionFixture {
  protected:
    Producer begun(std::vector<std::int32_t> partitions, TransactionVersion version = TransactionVersion::v2) {
        const Producer producer = init("tx").producer;
        EXPECT_EQ(add("tx", producer, std::move(partitions), version), ErrorCode::none);
        return producer;
    }
    /// A producer with a transaction open, in the last epoch that its id has.
    Producer begin_in_the_last_epoch() {
        const Producer last{{500}, {32'766}};
        store(TransactionRecord{.transactional_id = "tx",
                                .producer = last,
                                .previous_producer_id = last.id,
                                .timeout_ms = kTimeoutMs,
                                .state = TransactionState::empty,
                                .partitions = {},
                                .last_update_timestamp = now_.wall,
                                .client_version = TransactionVersion::v2});
        begin();
        EXPECT_EQ(add("tx", last, {0}), ErrorCode::none);
        return last;
    }
    static Producer later(Producer producer, int epochs = 1) {
        return {producer.id, {static_cast<std::int16_t>(producer.epoch.value + epochs)}};
    }
};

TEST_F(EndTransactionTest, WritesAMarkerToEachPartitionAndAnswersWithTheNextEpoch) {
    const Producer producer = begun({0, 1});
    const auto result = end("tx", producer, kCommit);
    EXPECT_EQ(result.error, ErrorCode::none);
    EXPECT_EQ(result.producer, later(producer));
    EXPECT_EQ(state_of("tx"), TransactionState::complete_commit);
    EXPECT_EQ(markers_of(0), std::vector<std::string>{"commit 1000/1"});
    EXPECT_EQ(markers_of(1), std::vector<std::string>{"commit 1000/1"});
    EXPECT_TRUE(describe("tx").topics.empty());
}

TEST_F(EndTransactionTest, ByTheFirstProtocolTheEpochStays) {
    const Producer producer = begun({0}, kFirst);
    const auto result = end("tx", producer, kAbort, kFirst);
    EXPECT_EQ(result.error, ErrorCode::none);
    EXPECT_EQ(result.producer, producer);
    EXPECT_EQ(markers_of(0), std::vector<std::string>{"abort 1000/0"});
    EXPECT_EQ(state_of("tx"), TransactionState::complete_abort);
}

TEST_F(EndTransactionTest, IdsAndEpochsOfOthersAreRefused) {
    const Producer producer = begun({0});
    for (const TransactionVersion version : {kFirst, TransactionVersion::v2}) {
        EXPECT_EQ(end("", producer, kCommit, version).error, ErrorCode::invalid_request);
        EXPECT_EQ(end("other", producer, kCommit, version).error, ErrorCode::invalid_producer_id_mapping);
        EXPECT_EQ(end("tx", {{7}, {0}}, kCommit, version).error, ErrorCode::invalid_producer_id_mapping);
        EXPECT_EQ(end("tx", later(producer), kCommit, version).error, ErrorCode::producer_fenced);
        EXPECT_EQ(end("tx", later(producer, -1), kCommit, version).error, ErrorCode::producer_fenced);
    }
    EXPECT_EQ(state_of("tx"), TransactionState::ongoing);
}

// The table above Kafka's `endTransaction`: state, requested end, and whether the epoch is the present one or the one before.
TEST_F(EndTransactionTest, AnEmptyIdIsAbortedByItsEpochAndNotCommitted) {
    const Producer producer = init("tx").producer;
    EXPECT_EQ(end("tx", producer, kCommit).error, ErrorCode::invalid_txn_state);
    EXPECT_EQ(end("tx", later(producer, -1), kAbort).error, ErrorCode::producer_fenced);
    EXPECT_EQ(end("tx", later(producer, -1), kCommit).error, ErrorCode::producer_fenced);
    const auto aborted = end("tx", producer, kAbort);
    EXPECT_EQ(aborted.error, ErrorCode::none);
    EXPECT_EQ(aborted.producer, later(producer));
    EXPECT_EQ(state_of("tx"), TransactionState::complete_abort);
    EXPECT_EQ(writes_, 0U);
}

TEST_F(EndTransactionTest, AfterACommitTheEpochSaysWhatIsMeant) {
    const Producer producer = begun({0});
    const Producer next = end("tx", producer, kCommit).producer;
    const auto repeated = end("tx", producer, kCommit);
    EXPECT_EQ(repeated.error, ErrorCode::none);
    EXPECT_EQ(repeated.producer, next);
    EXPECT_EQ(end("tx", producer, kAbort).error, ErrorCode::invalid_txn_state);
    EXPECT_EQ(end("tx", next, kCommit).error, ErrorCode::invalid_txn_state);
    EXPECT_EQ(end("tx", next, kAbort).producer, later(next));
    EXPECT_EQ(markers_of(0).size(), 1U);
}

TEST_F(EndTransactionTest, AfterAnAbortTheEpochSaysWhatIsMeant) {
    const Producer producer = begun({0});
    const Producer next = end("tx", producer, kAbort).producer;
    EXPECT_EQ(end("tx", producer, kAbort).producer, next);
    EXPECT_EQ(end("tx", producer, kCommit).error, ErrorCode::invalid_txn_state);
    EXPECT_EQ(end("tx", next, kCommit).error, ErrorCode::invalid_txn_state);
    EXPECT_EQ(end("tx", next, kAbort).producer, later(next));
}

TEST_F(EndTransactionTest, ByTheFirstProtocolARepeatedEndIsToldByItsState) {
    const Producer producer = init("tx").producer;
    EXPECT_EQ(end("tx", producer, kAbort, kFirst).error, ErrorCode::invalid_txn_state);
    EXPECT_EQ(end("tx", producer, kCommit, kFirst).error, ErrorCode::invalid_txn_state);
    ASSERT_EQ(add("tx", producer, {0}, kFirst), ErrorCode::none);
    ASSERT_EQ(end("tx", producer, kCommit, kFirst).error, ErrorCode::none);
    EXPECT_EQ(end("tx", producer, kCommit, kFirst).error, ErrorCode::none);
    EXPECT_EQ(end("tx", producer, kAbort, kFirst).error, ErrorCode::invalid_txn_state);
    EXPECT_EQ(markers_of(0).size(), 1U);
}

TEST_F(EndTransactionTest, WhileMarkersAreOwedTheSameEndIsUnderWayAndTheOtherIsWrong) {
    const Producer producer = begun({0, 1});
    failing_["t-1"] = ErrorCode::kafka_storage_error;
    ASSERT_EQ(end("tx", producer, kCommit).error, ErrorCode::none);
    EXPECT_EQ(end("tx", producer, kCommit).error, ErrorCode::concurrent_transactions);
    EXPECT_EQ(end("tx", producer, kAbort).error, ErrorCode::invalid_txn_state);
    EXPECT_EQ(end("tx", later(producer), kCommit).error, ErrorCode::producer_fenced);
    EXPECT_EQ(add("tx", later(producer), {2}), ErrorCode::concurrent_transactions);
    EXPECT_EQ(markers_of(0).size(), 1U);
    EXPECT_EQ(markers_of(1).size(), 0U);
}

TEST_F(EndTransactionTest, AMarkerThatFailedIsWrittenLaterAndOnlyThatOne) {
    const Producer producer = begun({0, 1});
    failing_["t-1"] = ErrorCode::kafka_storage_error;
    const Producer next = end("tx", producer, kCommit).producer;
    run_for(3 * OwedMarkers::kRetryMs);
    EXPECT_EQ(state_of("tx"), TransactionState::prepare_commit);
    failing_.clear();
    run_for(OwedMarkers::kRetryMs);
    EXPECT_EQ(state_of("tx"), TransactionState::complete_commit);
    EXPECT_EQ(markers_of(0).size(), 1U);
    EXPECT_EQ(markers_of(1), std::vector<std::string>{"commit 1000/1"});
    EXPECT_EQ(add("tx", next, {0}), ErrorCode::none);
}

TEST_F(EndTransactionTest, MarkersThatAreOwedAreWrittenAfterARestart) {
    const Producer producer = begun({0, 1});
    failing_["t-1"] = ErrorCode::kafka_storage_error;
    ASSERT_EQ(end("tx", producer, kCommit).error, ErrorCode::none);
    failing_.clear();
    begin();
    EXPECT_EQ(state_of("tx"), TransactionState::complete_commit);
    EXPECT_EQ(markers_of(1), std::vector<std::string>{"commit 1000/1"});
}

TEST_F(EndTransactionTest, AnEndWithoutPartitionsThatWasCutOffIsCompletedByARestart) {
    store(TransactionRecord{.transactional_id = "tx",
                            .producer = {{500}, {1}},
                            .previous_producer_id = {500},
                            .timeout_ms = kTimeoutMs,
                            .state = TransactionState::prepare_abort,
                            .partitions = {},
                            .start_timestamp = now_.wall,
                            .last_update_timestamp = now_.wall,
                            .client_version = TransactionVersion::v2});
    begin();
    EXPECT_EQ(state_of("tx"), TransactionState::complete_abort);
}

TEST_F(EndTransactionTest, PartitionsThatAreGoneAndLaterEpochsNeedNoMarker) {
    const Producer producer = begun({0, 1, 2, 3});
    failing_["t-1"] = ErrorCode::unknown_topic_or_partition;
    failing_["t-2"] = ErrorCode::invalid_producer_epoch;
    failing_["t-3"] = ErrorCode::transaction_coordinator_fenced;
    ASSERT_EQ(end("tx", producer, kCommit).error, ErrorCode::none);
    EXPECT_EQ(state_of("tx"), TransactionState::complete_commit);
}

TEST_F(EndTransactionTest, MarkersOfVeryManyPartitionsAreAskedForInPieces) {
    std::vector<std::int32_t> partitions;
    for (std::int32_t partition = 0; partition < static_cast<std::int32_t>(coordination::kOutwardWritesMax) + 5; ++partition) {
        partitions.push_back(partition);
    }
    const Producer producer = begun(partitions);
    ASSERT_EQ(end("tx", producer, kCommit).error, ErrorCode::none);
    EXPECT_EQ(state_of("tx"), TransactionState::prepare_commit);
    EXPECT_EQ(coordinator_->next_deadline(), now_.monotonic);
    run_for(0);
    EXPECT_EQ(state_of("tx"), TransactionState::complete_commit);
    EXPECT_EQ(largest_effect_writes_, coordination::kOutwardWritesMax);
    EXPECT_EQ(markers_of(0).size(), 1U);
    EXPECT_EQ(markers_of(partitions.back()).size(), 1U);
}

TEST_F(EndTransactionTest, TheLastEpochIsFollowedByAnotherProducerId) {
    const Producer last = begin_in_the_last_epoch();
    EXPECT_TRUE(
        ask(EndTransaction{.transactional_id = "tx", .producer = last, .commit = true, .client_version = TransactionVersion::v2})
            .needs_producer_id);
    EXPECT_EQ(state_of("tx"), TransactionState::ongoing);
    const auto result = end("tx", last, kCommit);
    EXPECT_EQ(result.producer, (Producer{{1000}, {0}}));
    EXPECT_EQ(markers_of(0), std::vector<std::string>{"commit 500/32767"});
    // The client did not get the answer.
    EXPECT_EQ(end("tx", last, kCommit).producer, result.producer);
    EXPECT_EQ(end("tx", last, kAbort).error, ErrorCode::invalid_txn_state);
    EXPECT_EQ(add("tx", result.producer, {0}), ErrorCode::none);
}

TEST_F(EndTransactionTest, TheNewProducerIdSurvivesARestartBetweenTheMarkers) {
    const Producer last = begin_in_the_last_epoch();
    failing_["t-0"] = ErrorCode::kafka_storage_error;
    const auto result = end("tx", last, kCommit);
    begin();
    failing_.clear();
    run_for(OwedMarkers::kRetryMs);
    EXPECT_EQ(describe("tx").producer, result.producer);
}

}  // namespace
}  // namespace partita::transactions::testing
