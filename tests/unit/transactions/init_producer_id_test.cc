#include "tests/unit/transactions/transaction_fixture.h"

namespace partita::transactions::testing {
namespace {

class InitProducerIdTest : public TransactionFixture {
  protected:
    /// Stores an id whose producer has this epoch, in a transaction of this state.
    void store_with_epoch(std::int16_t epoch, TransactionState state = TransactionState::complete_commit) {
        store(TransactionRecord{.transactional_id = "tx",
                                .producer = {{500}, {epoch}},
                                .previous_producer_id = {500},
                                .timeout_ms = kTimeoutMs,
                                .state = state,
                                .partitions = {},
                                .start_timestamp = now_.wall,
                                .last_update_timestamp = now_.wall,
                                .client_version = TransactionVersion::v2});
        begin();
    }
};

TEST_F(InitProducerIdTest, ANewIdGetsAFreshProducerIdWithEpochZero) {
    const auto result = init("tx");
    EXPECT_EQ(result.error, ErrorCode::none);
    EXPECT_EQ(result.producer, (Producer{{1000}, {0}}));
    EXPECT_EQ(state_of("tx"), TransactionState::empty);
}

TEST_F(InitProducerIdTest, AsksForAProducerIdBeforeAnythingHappens) {
    EXPECT_TRUE(ask(InitProducerId{.transactional_id = "tx", .timeout_ms = kTimeoutMs}).needs_producer_id);
    EXPECT_EQ(records_, 0U);
    EXPECT_EQ(describe("tx").error, ErrorCode::transactional_id_not_found);
}

TEST_F(InitProducerIdTest, EveryFurtherOneGetsTheNextEpoch) {
    init("tx");
    EXPECT_EQ(init("tx").producer, (Producer{{1000}, {1}}));
    EXPECT_EQ(init("tx").producer, (Producer{{1000}, {2}}));
}

TEST_F(InitProducerIdTest, RefusesAnEmptyIdAndTimeoutsBeyondTheLimit) {
    EXPECT_EQ(init("").error, ErrorCode::invalid_request);
    EXPECT_EQ(init("tx", std::nullopt, 0).error, ErrorCode::invalid_transaction_timeout);
    EXPECT_EQ(init("tx", std::nullopt, -1).error, ErrorCode::invalid_transaction_timeout);
    EXPECT_EQ(init("tx", std::nullopt, kMaxTimeoutMs + 1).error, ErrorCode::invalid_transaction_timeout);
    EXPECT_EQ(init("tx", std::nullopt, kMaxTimeoutMs).error, ErrorCode::none);
}

TEST_F(InitProducerIdTest, AProducerThatRecoversKeepsItsPlace) {
    const Producer first = init("tx").producer;
    const auto second = init("tx", first);
    EXPECT_EQ(second.producer, (Producer{{1000}, {1}}));
    // The producer did not get the answer.
    EXPECT_EQ(init("tx", first).producer, second.producer);
    EXPECT_EQ(init("tx", second.producer).producer, (Producer{{1000}, {2}}));
}

TEST_F(InitProducerIdTest, AProducerThatAnotherOneReplacedIsFenced) {
    const Producer first = init("tx").producer;
    init("tx");
    EXPECT_EQ(init("tx", first).error, ErrorCode::producer_fenced);
    EXPECT_EQ(init("tx", Producer{{999}, {1}}).error, ErrorCode::producer_fenced);
}

TEST_F(InitProducerIdTest, ARepeatedRequestIsNotRecognisedAfterARestart) {
    // As in Kafka, no record has the epoch before.
    const Producer first = init("tx").producer;
    init("tx", first);
    begin();
    EXPECT_EQ(init("tx", first).error, ErrorCode::producer_fenced);
}

TEST_F(InitProducerIdTest, AbortsWhatIsOpenAndLetsTheClientComeAgain) {
    const Producer first = init("tx").producer;
    ASSERT_EQ(add("tx", first, {0, 1}), ErrorCode::none);
    EXPECT_EQ(init("tx").error, ErrorCode::concurrent_transactions);
    EXPECT_EQ(state_of("tx"), TransactionState::complete_abort);
    EXPECT_EQ(markers_of(0), std::vector<std::string>{"abort 1000/1"});
    EXPECT_EQ(markers_of(1), std::vector<std::string>{"abort 1000/1"});
    EXPECT_EQ(init("tx").producer, (Producer{{1000}, {2}}));
    EXPECT_EQ(add("tx", first, {0}), ErrorCode::producer_fenced);
}

TEST_F(InitProducerIdTest, WhoWasFencedMayGoOnAsLongAsNobodyElseCame) {
    const Producer first = init("tx").producer;
    ASSERT_EQ(add("tx", first, {0}), ErrorCode::none);
    EXPECT_EQ(init("tx").error, ErrorCode::concurrent_transactions);
    EXPECT_EQ(init("tx", first).producer, (Producer{{1000}, {1}}));
    EXPECT_EQ(init("tx").producer, (Producer{{1000}, {2}}));
    EXPECT_EQ(init("tx", first).error, ErrorCode::producer_fenced);
}

TEST_F(InitProducerIdTest, FencesBeforeVersion2ByTheSameEpoch) {
    config_ = config(TransactionVersion::v1);
    begin();
    const Producer first = init("tx").producer;
    ASSERT_EQ(add("tx", first, {0}, TransactionVersion::v0), ErrorCode::none);
    EXPECT_EQ(init("tx").error, ErrorCode::concurrent_transactions);
    EXPECT_EQ(markers_of(0), std::vector<std::string>{"abort 1000/1"});
    EXPECT_EQ(init("tx").producer, (Producer{{1000}, {2}}));
}

TEST_F(InitProducerIdTest, WaitsForMarkersThatAreOwed) {
    const Producer producer = init("tx").producer;
    ASSERT_EQ(add("tx", producer, {0}), ErrorCode::none);
    failing_["t-0"] = ErrorCode::kafka_storage_error;
    ASSERT_EQ(end("tx", producer, true).error, ErrorCode::none);
    EXPECT_EQ(state_of("tx"), TransactionState::prepare_commit);
    EXPECT_EQ(init("tx").error, ErrorCode::concurrent_transactions);
    failing_.clear();
    run_for(OwedMarkers::kRetryMs);
    EXPECT_EQ(init("tx").error, ErrorCode::none);
}

TEST_F(InitProducerIdTest, AProducerIdWhoseEpochsAreUsedUpIsReplaced) {
    store_with_epoch(32'766);
    EXPECT_EQ(init("tx").producer, (Producer{{1000}, {0}}));
    EXPECT_EQ(init("tx").producer, (Producer{{1000}, {1}}));
}

TEST_F(InitProducerIdTest, TheLastEpochIsStillGivenOut) {
    store_with_epoch(32'765);
    EXPECT_EQ(init("tx").producer, (Producer{{500}, {32'766}}));
}

TEST_F(InitProducerIdTest, ARepeatedRequestIsRecognisedAcrossANewProducerId) {
    store_with_epoch(32'766);
    const Producer old{{500}, {32'766}};
    const auto rotated = init("tx", old);
    EXPECT_EQ(rotated.producer, (Producer{{1000}, {0}}));
    EXPECT_EQ(init("tx", old).producer, rotated.producer);
    // Only the last epoch of the id before can mean that.
    EXPECT_EQ(init("tx", Producer{{500}, {32'000}}).error, ErrorCode::producer_fenced);
}

TEST_F(InitProducerIdTest, FencingTheLastEpochUsesTheOneKeptForIt) {
    store_with_epoch(32'766, TransactionState::empty);
    ASSERT_EQ(add("tx", {{500}, {32'766}}, {0}), ErrorCode::none);
    EXPECT_EQ(init("tx").error, ErrorCode::concurrent_transactions);
    EXPECT_EQ(markers_of(0), std::vector<std::string>{"abort 500/32767"});
    EXPECT_EQ(init("tx").producer, (Producer{{1000}, {0}}));
}

}  // namespace
}  // namespace partita::transactions::testing
