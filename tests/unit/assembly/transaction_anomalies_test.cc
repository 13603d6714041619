// Tests for anomalies that were found in other transactional brokers, by Jepsen among others. An end comes late and ends another
// transaction; readers see aborted records; transactions are torn; offsets stall or fall back. See also
// EndWhollyOrNotAtAllWhereverTheBrokerDies, and the scene of exactly once in the simulation of the broker.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/unit/assembly/assembled_transactions.h"

namespace partita::test {
namespace {

using ::testing::ElementsAre;
using transactions::Producer;
using transactions::TransactionState;

class TransactionAnomalies : public AssembledTransactions {};

// The client that asked for the end has lost its connection, asked again over another one, and begun the next transaction.
TEST_F(TransactionAnomalies, ALateEndEndsNothingOfTheNextTransaction) {
    const Producer producer = init("a");
    write("a", producer);
    const Producer next = end("a", producer, true).producer;
    ASSERT_EQ(end("a", producer, true).producer, next) << "asked again before the next one began";
    write("a", next);
    ASSERT_EQ(commit_offset("a", next, "g", 9), ErrorCode::none);
    for (const bool dies : {false, true}) {
        if (dies) {
            kill_and_restart();
        }
        for (const bool is_commit : {true, false}) {
            EXPECT_EQ(end("a", producer, is_commit).error, ErrorCode::producer_fenced) << dies << is_commit;
            EXPECT_EQ(describe("a").state, TransactionState::ongoing);
            EXPECT_TRUE(is_open("t"));
        }
    }
    ASSERT_EQ(end("a", next, false).error, ErrorCode::none);
    EXPECT_THAT(transactions_in("t"), ElementsAre("0/0", "commit 0/1", "0/1", "abort 0/2"));
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::none, -1}));
}

// Before KIP-890 an end named its producer and no transaction. Kafka therefore takes a late end for the end of the transaction
// that is open by then. Clients of that protocol meet this in production, and so they meet it here.
TEST_F(TransactionAnomalies, ALateEndByTheFirstProtocolEndsTheNextTransactionAsInKafka) {
    client_version_ = transactions::TransactionVersion::v1;
    make_topic("u");
    make_topic("v");
    const Producer producer = init("a");
    write("a", producer);
    ASSERT_EQ(end("a", producer, true).error, ErrorCode::none);
    EXPECT_EQ(end("a", producer, true).error, ErrorCode::none) << "asked again before the next one began";
    EXPECT_EQ(end("a", producer, false).error, ErrorCode::invalid_txn_state) << "it was committed";

    write("a", producer, "u");
    EXPECT_EQ(end("a", producer, true).error, ErrorCode::none) << "the late one";
    EXPECT_FALSE(is_open("u"));
    EXPECT_THAT(transactions_in("u"), ElementsAre("0/0", "commit 0/0"));

    write("a", producer, "v");
    kill_and_restart();
    EXPECT_EQ(end("a", producer, false).error, ErrorCode::none) << "of a transaction that was to be aborted earlier";
    EXPECT_THAT(transactions_in("v"), ElementsAre("0/0", "abort 0/0"));
}

TEST_F(TransactionAnomalies, ALateWriteIsInNoLaterTransaction) {
    const Producer producer = init("a");
    write("a", producer);
    const Producer next = end("a", producer, false).producer;
    write("a", next);
    EXPECT_EQ(add("a", producer, "t"), ErrorCode::producer_fenced);
    EXPECT_EQ(commit_offset("a", producer, "g", 9), ErrorCode::producer_fenced);
    ASSERT_EQ(end("a", next, true).error, ErrorCode::none);
    EXPECT_THAT(transactions_in("t"), ElementsAre("0/0", "abort 0/1", "0/1", "commit 0/2"));
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::none, -1}));
}

TEST_F(TransactionAnomalies, OffsetsOfAnAbortedTransactionLeaveThoseBeforeItInForce) {
    Producer producer = init("a");
    std::int64_t committed = -1;
    for (std::int64_t offset = 1; offset <= 8; ++offset) {
        ASSERT_EQ(commit_offset("a", producer, "g", offset), ErrorCode::none);
        EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::unstable_offset_commit, -1}));
        EXPECT_EQ(fetch_offset("g", false), (Fetched{ErrorCode::none, committed}));
        if (offset % 3 == 0) {
            kill_and_restart();
        }
        const bool is_commit = offset % 2 == 1;
        const auto ended = end("a", producer, is_commit);
        ASSERT_EQ(ended.error, ErrorCode::none);
        producer = ended.producer;
        if (is_commit) {
            committed = offset;
        }
        if (offset % 4 == 0) {
            kill_and_restart();
        }
        EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::none, committed})) << offset;
    }
}

// The next transaction of the same producer, over the same connection, in the same turn. The broker writes markers before it
// answers an end, so that CONCURRENT_TRANSACTIONS turns no client away while nothing fails.
TEST_F(TransactionAnomalies, NothingIsUnderWayRightBehindAnEnd) {
    constexpr int kTopics = 20;
    const auto name = [](int topic) { return "u" + std::to_string(topic); };
    for (int topic = 0; topic < kTopics; ++topic) {
        make_topic(name(topic));
    }
    Producer producer = init("a");
    for (int round = 0; round < 20; ++round) {
        for (int topic = 0; topic < kTopics; ++topic) {
            ASSERT_EQ(add("a", producer, name(topic)), ErrorCode::none);
        }
        ASSERT_EQ(commit_offset("a", producer, "g", round), ErrorCode::none);
        in_turn([&](logs::Turn& turn) {
            const auto ended = services().coordinators.transactions.ask(
                turn, "a",
                transactions::EndTransaction{.transactional_id = "a",
                                             .producer = producer,
                                             .commit = round % 2 == 0,
                                             .client_version = transactions::TransactionVersion::v2});
            ASSERT_TRUE(ended && ended->error == ErrorCode::none);
            producer = ended->producer;
            const transactions::WrittenPartition first{"t", {0}};
            const auto added = services().coordinators.transactions.ask(
                turn, "a",
                transactions::AddPartitions{.transactional_id = "a",
                                            .producer = producer,
                                            .partitions = {&first, 1},
                                            .client_version = transactions::TransactionVersion::v2});
            ASSERT_TRUE(added);
            EXPECT_EQ(added->error, ErrorCode::none) << round;
        });
    }
}

}  // namespace
}  // namespace partita::test
