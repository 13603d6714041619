#include <gmock/gmock.h>

#include <limits>

#include "tests/unit/transactions/transaction_fixture.h"

namespace partita::transactions::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OpenTransactions : public TransactionFixture {};

TEST_F(OpenTransactions, BeginWithTheirFirstPartition) {
    const Producer producer = init("tx").producer;
    EXPECT_EQ(describe("tx").start_timestamp, kNoTimestamp);
    pass(5);
    ASSERT_EQ(add("tx", producer, {3, 1, 3}), ErrorCode::none);
    const TimestampMs began = now_.wall;
    pass(5);
    ASSERT_EQ(add("tx", producer, {2, 1}), ErrorCode::none);
    const auto described = describe("tx");
    EXPECT_EQ(described.state, TransactionState::ongoing);
    EXPECT_EQ(described.start_timestamp, began);
    ASSERT_EQ(described.topics.size(), 1U);
    EXPECT_EQ(described.topics[0].name, "t");
    EXPECT_THAT(described.topics[0].partitions, ElementsAre(PartitionIndex{1}, PartitionIndex{2}, PartitionIndex{3}));
}

TEST_F(OpenTransactions, WriteNothingForPartitionsThatAreIn) {
    const Producer producer = init("tx").producer;
    ASSERT_EQ(add("tx", producer, {0, 1}), ErrorCode::none);
    const std::size_t before = records_;
    EXPECT_EQ(add("tx", producer, {1}), ErrorCode::none);
    EXPECT_EQ(add("tx", producer, {0, 1}), ErrorCode::none);
    EXPECT_EQ(records_, before);
}

TEST_F(OpenTransactions, TakePartitionsOfTheirOwnProducerOnly) {
    const Producer producer = init("tx").producer;
    EXPECT_EQ(add("", producer, {0}), ErrorCode::invalid_request);
    EXPECT_EQ(add("other", producer, {0}), ErrorCode::invalid_producer_id_mapping);
    EXPECT_EQ(add("tx", {{5}, {0}}, {0}), ErrorCode::invalid_producer_id_mapping);
    EXPECT_EQ(add("tx", {producer.id, {1}}, {0}), ErrorCode::producer_fenced);
    EXPECT_EQ(state_of("tx"), TransactionState::empty);
}

TEST_F(OpenTransactions, AreVerifiedPartitionByPartition) {
    const Producer producer = init("tx").producer;
    ASSERT_EQ(add("tx", producer, {0}), ErrorCode::none);
    const WrittenPartition partitions[] = {{"t", {0}}, {"t", {1}}, {"u", {0}}};
    const auto verify = [&](std::string_view id, Producer by) {
        return ask(VerifyPartitions{.transactional_id = id, .producer = by, .partitions = partitions}).errors;
    };
    EXPECT_THAT(verify("tx", producer),
                ElementsAre(ErrorCode::none, ErrorCode::transaction_abortable, ErrorCode::transaction_abortable));
    EXPECT_EQ(verify("", producer)[0], ErrorCode::invalid_request);
    EXPECT_EQ(verify("other", producer)[0], ErrorCode::invalid_producer_id_mapping);
    EXPECT_EQ(verify("tx", {{5}, {0}})[0], ErrorCode::invalid_producer_id_mapping);
    EXPECT_EQ(verify("tx", {producer.id, {1}})[2], ErrorCode::producer_fenced);
    failing_["t-0"] = ErrorCode::kafka_storage_error;
    const Producer next = end("tx", producer, true).producer;
    EXPECT_EQ(verify("tx", next)[0], ErrorCode::concurrent_transactions);
}

TEST_F(OpenTransactions, AreAbortedAtTheFirstLookAfterTheirTimeout) {
    const Producer producer = init("tx", std::nullopt, 25'000).producer;
    pass(1'000);
    ASSERT_EQ(add("tx", producer, {0}), ErrorCode::none);
    // The transaction times out 26 s after the start: the coordinator looks at 20 and at 30.
    run_for(28'999);
    EXPECT_EQ(state_of("tx"), TransactionState::ongoing);
    run_for(1);
    EXPECT_EQ(state_of("tx"), TransactionState::complete_abort);
    EXPECT_EQ(markers_of(0), std::vector<std::string>{"abort 1000/1"});
    EXPECT_EQ(add("tx", producer, {0}), ErrorCode::producer_fenced);
    // The producer sees the same as if it had ended the transaction itself and missed the answer, as in Kafka.
    EXPECT_EQ(end("tx", producer, true).error, ErrorCode::invalid_txn_state);
    EXPECT_EQ(end("tx", producer, false).producer, (Producer{producer.id, {1}}));
}

TEST_F(OpenTransactions, ATimeoutThatEndsWithALookIsOverAtTheNext) {
    const Producer producer = init("tx", std::nullopt, 20'000).producer;
    ASSERT_EQ(add("tx", producer, {0}), ErrorCode::none);
    run_for(20'000);
    EXPECT_EQ(state_of("tx"), TransactionState::ongoing);
    run_for(10'000);
    EXPECT_EQ(state_of("tx"), TransactionState::complete_abort);
}

TEST_F(OpenTransactions, AskForNoTimerWhenTheyEndedInTime) {
    const Producer producer = init("tx").producer;
    ASSERT_EQ(add("tx", producer, {0}), ErrorCode::none);
    ASSERT_EQ(end("tx", producer, true).error, ErrorCode::none);
    ASSERT_TRUE(coordinator_->next_deadline().has_value());
    EXPECT_EQ(*coordinator_->next_deadline() - now_.monotonic, kExpiryCheckMs);
}

TEST_F(OpenTransactions, KeepTheirTimeoutAcrossARestart) {
    const Producer producer = init("tx", std::nullopt, 25'000).producer;
    ASSERT_EQ(add("tx", producer, {0}), ErrorCode::none);
    pass(24'000);
    begin();
    run_for(9'999);
    EXPECT_EQ(state_of("tx"), TransactionState::ongoing);
    run_for(1);
    EXPECT_EQ(state_of("tx"), TransactionState::complete_abort);
}

TEST_F(OpenTransactions, ThatBeganLaterThanNowLastNoLongerThanTheirTimeout) {
    const Producer producer = init("tx", std::nullopt, 25'000).producer;
    ASSERT_EQ(add("tx", producer, {0}), ErrorCode::none);
    // The clock was years ahead, and was corrected while the broker was down.
    now_.wall.value -= 5LL * 365 * 24 * 3'600'000;
    begin();
    run_for(29'999);
    EXPECT_EQ(state_of("tx"), TransactionState::ongoing);
    run_for(1);
    EXPECT_EQ(state_of("tx"), TransactionState::complete_abort);
}

TEST_F(OpenTransactions, EndWhateverTimesARecordOfThemSays) {
    for (const std::int64_t time : {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
        store(TransactionRecord{.transactional_id = "tx",
                                .producer = {{7}, {1}},
                                .timeout_ms = std::numeric_limits<std::int32_t>::max(),
                                .state = TransactionState::ongoing,
                                .partitions = {{"t", {{0}}}},
                                .start_timestamp = {time},
                                .last_update_timestamp = {time},
                                .client_version = TransactionVersion::v2});
        begin();
        run_for(std::int64_t{std::numeric_limits<std::int32_t>::max()} + kAbortCheckMs);
        EXPECT_EQ(state_of("tx"), TransactionState::complete_abort);
    }
}

TEST_F(OpenTransactions, ThatTimedOutWhileTheBrokerWasDownAreAbortedAtTheFirstLook) {
    const Producer producer = init("tx").producer;
    ASSERT_EQ(add("tx", producer, {0}), ErrorCode::none);
    pass(3'600'000);
    begin();
    EXPECT_EQ(state_of("tx"), TransactionState::ongoing);
    run_for(kAbortCheckMs);
    EXPECT_EQ(state_of("tx"), TransactionState::complete_abort);
}

TEST_F(OpenTransactions, IdsThatNobodyUsedForAWeekAreForgotten) {
    init("idle");
    const Producer producer = init("open", std::nullopt, kMaxTimeoutMs).producer;
    run_for(kExpirationMs - kExpiryCheckMs);
    ASSERT_EQ(add("open", producer, {0}), ErrorCode::none);
    EXPECT_EQ(describe("idle").error, ErrorCode::none);
    run_for(kExpiryCheckMs);
    EXPECT_EQ(describe("idle").error, ErrorCode::transactional_id_not_found);
    EXPECT_EQ(describe("open").error, ErrorCode::none);
    EXPECT_EQ(init("idle").producer.epoch, ProducerEpoch{0});
}

TEST_F(OpenTransactions, AreListedByProducerStateAndAge) {
    init("a");
    const Producer b = init("b").producer;
    const Producer c = init("c").producer;
    ASSERT_EQ(add("b", b, {0}), ErrorCode::none);
    pass(1'000);
    ASSERT_EQ(add("c", c, {0}), ErrorCode::none);
    pass(500);
    EXPECT_THAT(listed({}), ElementsAre("a", "b", "c"));
    const ProducerId ids[] = {{77}, b.id};
    EXPECT_THAT(listed({.producer_ids = ids}), ElementsAre("b"));
    const TransactionState open[] = {TransactionState::ongoing};
    EXPECT_THAT(listed({.states = open}), ElementsAre("b", "c"));
    EXPECT_THAT(listed({.states = open, .longer_than_ms = 500}), ElementsAre("b"));
    EXPECT_THAT(listed({.states = open, .longer_than_ms = 1'500}), IsEmpty());
    // Kafka counts from a beginning of -1, too.
    EXPECT_THAT(listed({.longer_than_ms = 1'500}), ElementsAre("a"));
}

TEST_F(OpenTransactions, AreDescribedByTheirIdAlone) {
    EXPECT_EQ(describe("").error, ErrorCode::invalid_request);
    EXPECT_EQ(describe("tx").error, ErrorCode::transactional_id_not_found);
    init("tx", std::nullopt, 1'234);
    EXPECT_EQ(describe("tx").timeout_ms, 1'234);
    EXPECT_EQ(describe("tx").producer, (Producer{{1000}, {0}}));
}

}  // namespace
}  // namespace partita::transactions::testing
