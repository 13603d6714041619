// Tests transactions in a whole broker, by commands to its coordinators: what is left of them when the broker dies between any
// two steps, when a write fails, and when topics go.

#include <gmock/gmock.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "broker/catalog/features.h"
#include "broker/runtime/coordinators/hanging_transactions.h"
#include "broker/runtime/coordinators/outward_writes.h"
#include "storage/log_directory.h"
#include "tests/unit/assembly/assembled_transactions.h"

namespace partita::test {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using transactions::Producer;
using transactions::TransactionState;
using transactions::TransactionVersion;

constexpr std::int64_t kMinuteMs = 60'000;

class Transactions : public AssembledTransactions {};

TEST_F(Transactions, CommittedReachAllTheirPartitionsBeforeTheClientIsTold) {
    make_topic("u");
    const Producer producer = init("a");
    write("a", producer, "t");
    write("a", producer, "u");
    EXPECT_TRUE(is_open("t"));
    const auto ended = end("a", producer, true);
    ASSERT_EQ(ended.error, ErrorCode::none);
    EXPECT_EQ(ended.producer.epoch.value, 1);
    for (const char* topic : {"t", "u"}) {
        EXPECT_THAT(transactions_in(topic), ElementsAre("0/0", "commit 0/1")) << topic;
        EXPECT_FALSE(is_open(topic));
    }
    EXPECT_EQ(describe("a").state, TransactionState::complete_commit);
    // The next one begins with the epoch that was given.
    write("a", ended.producer, "t");
    ASSERT_EQ(end("a", ended.producer, false).error, ErrorCode::none);
    EXPECT_THAT(transactions_in("t"), ElementsAre("0/0", "commit 0/1", "0/1", "abort 0/2"));
}

TEST_F(Transactions, OffsetsOfACommittedOneCountAndThoseOfAnAbortedOneDoNot) {
    Producer producer = init("a");
    ASSERT_EQ(commit_offset("a", producer, "g", 5), ErrorCode::none);
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::unstable_offset_commit, -1}));
    EXPECT_EQ(fetch_offset("g", false), (Fetched{ErrorCode::none, -1}));
    producer = end("a", producer, true).producer;
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::none, 5}));
    ASSERT_EQ(commit_offset("a", producer, "g", 9), ErrorCode::none);
    ASSERT_EQ(end("a", producer, false).error, ErrorCode::none);
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::none, 5}));
    kill_and_restart();
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::none, 5}));
}

TEST_F(Transactions, OffsetsThatThePartitionRefusesAreAnErrorOfTheClientAlone) {
    const Producer producer = init("a");
    ASSERT_EQ(commit_offset("a", producer, "g", 5), ErrorCode::none);
    const auto ended = end("a", producer, true);
    // A client that was fenced, and one whose verification was overtaken by the end of its transaction.
    const auto overtaken =
        services().coordinators.groups.begin_verification("g", ended.producer.id, ended.producer.epoch, true, clock_.now());
    ASSERT_TRUE(overtaken.has_value());
    EXPECT_EQ(commit_verified(producer, "g", 6, *overtaken), ErrorCode::invalid_producer_epoch);
    EXPECT_EQ(commit_verified(ended.producer, "g", 6, kNotVerified), ErrorCode::invalid_txn_state);
    EXPECT_TRUE(services().coordinators.groups.is_complete()) << "nobody has to be rebuilt";
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::none, 5}));
}

TEST_F(Transactions, OpenAtAKillGoOnAfterIt) {
    const Producer producer = init("a");
    write("a", producer);
    ASSERT_EQ(commit_offset("a", producer, "g", 5), ErrorCode::none);
    kill_and_restart();
    EXPECT_TRUE(is_open("t"));
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::unstable_offset_commit, -1}));
    ASSERT_EQ(end("a", producer, true).error, ErrorCode::none);
    EXPECT_FALSE(is_open("t"));
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::none, 5}));
    kill_and_restart();
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::none, 5}));
}

// The broker dies before each change of a file in turn. Either the transaction was not decided and is still open, or it ends in
// all partitions as decided, whatever the client was told.
TEST_F(Transactions, EndWhollyOrNotAtAllWhereverTheBrokerDies) {
    make_topic("u");
    int undecided = 0;
    int decided = 0;
    bool is_over = false;
    for (std::uint64_t changes = 0; !is_over; ++changes) {
        ASSERT_LT(changes, 20U);
        const std::string id = "id" + std::to_string(changes);
        const Producer producer = init(id);
        write(id, producer, "t");
        write(id, producer, "u");
        ASSERT_EQ(commit_offset(id, producer, id, 7), ErrorCode::none);
        const std::size_t before = transactions_in("t").size();
        broker_.doom(MortalBroker::Death::kill, changes);
        const auto told = end(id, producer, true);
        is_over = !broker_.is_dead();
        broker_.spare();
        if (is_over) {
            broker_.die(MortalBroker::Death::kill);
        }
        restart();
        rest(1'000);
        if (is_open("t")) {
            ++undecided;
            EXPECT_TRUE(is_open("u"));
            EXPECT_EQ(fetch_offset(id), (Fetched{ErrorCode::unstable_offset_commit, -1}));
            EXPECT_EQ(describe(id).state, TransactionState::ongoing);
            ASSERT_EQ(end(id, producer, true).error, ErrorCode::none);
        } else {
            ++decided;
            EXPECT_EQ(describe(id).state, TransactionState::complete_commit);
        }
        EXPECT_FALSE(is_open("t"));
        EXPECT_FALSE(is_open("u"));
        EXPECT_FALSE(is_open("__consumer_offsets"));
        const std::vector<std::string> now = transactions_in("t");
        const std::string marker = "commit " + std::to_string(producer.id.value) + "/1";
        EXPECT_GT(now.size(), before);
        for (std::size_t i = before; i < now.size(); ++i) {
            EXPECT_EQ(now[i], marker) << changes;
        }
        EXPECT_EQ(fetch_offset(id), (Fetched{ErrorCode::none, 7}));
        if (is_over) {
            EXPECT_EQ(told.error, ErrorCode::none);
        }
    }
    EXPECT_GE(undecided, 1);
    EXPECT_GE(decided, 3) << "it dies behind the record, and between the markers";
}

TEST_F(Transactions, AMarkerThatCannotBeWrittenIsOwedUntilItIs) {
    const Producer producer = init("a");
    write("a", producer);
    broker_.files().fail_write("/t-0/", ENOSPC);
    const auto ended = end("a", producer, true);
    EXPECT_EQ(ended.error, ErrorCode::none);
    EXPECT_TRUE(is_open("t"));
    EXPECT_EQ(describe("a").state, TransactionState::prepare_commit);
    EXPECT_EQ(add("a", ended.producer, "t"), ErrorCode::concurrent_transactions);
    rest(1'000);
    EXPECT_FALSE(is_open("t"));
    EXPECT_EQ(describe("a").state, TransactionState::complete_commit);
    EXPECT_EQ(add("a", ended.producer, "t"), ErrorCode::none);
}

TEST_F(Transactions, ADecisionThatCannotBeWrittenIsNone) {
    const Producer producer = init("a");
    write("a", producer);
    broker_.files().fail_write("/__transaction_state-0/", ENOSPC);
    EXPECT_EQ(end("a", producer, true).error, ErrorCode::not_coordinator);
    EXPECT_TRUE(is_open("t"));
    rest(1'000);
    EXPECT_TRUE(is_open("t"));
    EXPECT_EQ(describe("a").state, TransactionState::ongoing);
    EXPECT_EQ(end("a", producer, false).error, ErrorCode::none);
    EXPECT_THAT(transactions_in("t"), ElementsAre("0/0", "abort 0/1"));
}

TEST_F(Transactions, ACompletionThatCannotBeWrittenIsMadeUpForByTheRebuiltCoordinator) {
    const Producer producer = init("a");
    write("a", producer);
    // This write comes after the decision.
    broker_.files().fail_write("/__transaction_state-0/", ENOSPC, 1);
    EXPECT_EQ(end("a", producer, true).error, ErrorCode::none);
    EXPECT_FALSE(services().coordinators.transactions.is_complete());
    rest(1'000);
    EXPECT_TRUE(services().coordinators.transactions.is_complete());
    EXPECT_EQ(describe("a").state, TransactionState::complete_commit);
    EXPECT_FALSE(is_open("t"));
    // A second marker changes nothing.
    EXPECT_THAT(transactions_in("t"), ElementsAre("0/0", "commit 0/1", "commit 0/1"));
}

TEST_F(Transactions, AMarkerForOffsetsWaitsUntilTheirCoordinatorIsRebuilt) {
    const Producer producer = init("a");
    ASSERT_EQ(commit_offset("a", producer, "g", 5), ErrorCode::none);
    in_turn([&](logs::Turn& turn) {
        broker_.files().fail_write("/__consumer_offsets-0/", ENOSPC);
        ASSERT_EQ(commit_in(turn, producer, "g", 6, kNotVerified), ErrorCode::not_coordinator);
        ASSERT_FALSE(services().coordinators.groups.is_complete());
        const auto ended = services().coordinators.transactions.ask(
            turn, "a",
            transactions::EndTransaction{
                .transactional_id = "a", .producer = producer, .commit = true, .client_version = TransactionVersion::v2});
        ASSERT_TRUE(ended && ended->error == ErrorCode::none);
        EXPECT_TRUE(is_open("__consumer_offsets")) << "whoever rebuilds reads the log";
    });
    rest(1'000);
    EXPECT_TRUE(services().coordinators.groups.is_complete());
    EXPECT_EQ(describe("a").state, TransactionState::complete_commit);
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::none, 5}));
}

TEST_F(Transactions, OffsetsThatArePendingStaySoInARebuiltCoordinator) {
    const Producer producer = init("a");
    ASSERT_EQ(commit_offset("a", producer, "g", 5), ErrorCode::none);
    broker_.files().fail_write("/__consumer_offsets-0/", ENOSPC);
    ASSERT_EQ(commit_verified(producer, "h", 6, kNotVerified), ErrorCode::not_coordinator);
    rest(1'000);
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::unstable_offset_commit, -1}));
    EXPECT_EQ(fetch_offset("h"), (Fetched{ErrorCode::none, -1}));
    ASSERT_EQ(end("a", producer, true).error, ErrorCode::none);
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::none, 5}));
    EXPECT_EQ(fetch_offset("h"), (Fetched{ErrorCode::none, -1}));
}

TEST_F(Transactions, GoOnWithoutATopicThatWasDeleted) {
    make_topic("u");
    const Producer producer = init("a");
    write("a", producer, "t");
    write("a", producer, "u");
    delete_topic("t");
    ASSERT_EQ(end("a", producer, true).error, ErrorCode::none);
    EXPECT_EQ(describe("a").state, TransactionState::complete_commit);
    EXPECT_THAT(transactions_in("u"), ElementsAre("0/0", "commit 0/1"));
}

TEST_F(Transactions, EndInATopicMadeAnewWithoutHarm) {
    const Producer producer = init("a");
    write("a", producer, "t");
    delete_topic("t");
    make_topic("t");
    ASSERT_EQ(end("a", producer, true).error, ErrorCode::none);
    EXPECT_EQ(describe("a").state, TransactionState::complete_commit);
    EXPECT_FALSE(is_open("t"));
}

TEST_F(Transactions, AreForgottenWithTheTopicOfTheirCoordinators) {
    const Producer producer = init("a");
    write("a", producer);
    ASSERT_EQ(commit_offset("a", producer, "g", 5), ErrorCode::none);
    delete_topic("__transaction_state");
    EXPECT_FALSE(services().coordinators.transactions.is_attached());
    EXPECT_EQ(end("a", producer, true).error, ErrorCode::not_coordinator);
    // No coordinator would end it, and readers of committed records would wait for ever.
    EXPECT_FALSE(is_open("t"));
    EXPECT_THAT(transactions_in("t"), ElementsAre("0/0", "abort 0/0"));
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::none, -1}));
    in_turn(
        [&](logs::Turn& turn) { ASSERT_TRUE(services().catalog.make_topic_of(catalog::CoordinatorKind::transactions, turn)); });
    EXPECT_EQ(end("a", producer, true).error, ErrorCode::invalid_producer_id_mapping);
    const Producer next = init("a");
    EXPECT_NE(next.id, producer.id);
    kill_and_restart();
    EXPECT_EQ(describe("a").producer, next);
}

TEST_F(Transactions, ThatAreOpenForTooLongAreAborted) {
    const Producer producer = init("a", 5'000);
    write("a", producer);
    ASSERT_EQ(commit_offset("a", producer, "g", 5), ErrorCode::none);
    rest(4'000);
    EXPECT_TRUE(is_open("t"));
    rest(3'000);
    EXPECT_FALSE(is_open("t"));
    EXPECT_THAT(transactions_in("t"), ElementsAre("0/0", "abort 0/1"));
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::none, -1}));
    EXPECT_EQ(end("a", producer, true).error, ErrorCode::invalid_txn_state);
}

TEST_F(Transactions, ThatWereOpenForTooLongWhenTheBrokerWasDownAreAborted) {
    const Producer producer = init("a", 5'000);
    write("a", producer);
    broker_.die(MortalBroker::Death::kill);
    const auto began = broker_.restart(10'000);
    ASSERT_TRUE(began) << began.error();
    EXPECT_TRUE(is_open("t"));
    rest(2'000);
    EXPECT_FALSE(is_open("t"));
}

TEST_F(Transactions, IdsThatNobodyUsesAreForgotten) {
    broker_.die(MortalBroker::Death::kill);
    broker_.overrides.insert(broker_.overrides.end(), {"transactional.id.expiration.ms=60000",
                                                       "transaction.remove.expired.transaction.cleanup.interval.ms=1000"});
    restart();
    const Producer unused = init("unused");
    const Producer open = init("open", 10 * static_cast<std::int32_t>(kMinuteMs));
    write("open", open);
    rest(2 * kMinuteMs);
    EXPECT_EQ(describe("unused").error, ErrorCode::transactional_id_not_found);
    EXPECT_EQ(describe("open").state, TransactionState::ongoing);
    EXPECT_NE(init("unused").id, unused.id);
}

TEST_F(Transactions, OfManyIdsAreThereAfterACleanStopAndAKill) {
    std::vector<Producer> producers;
    for (int i = 0; i < 50; ++i) {
        const std::string id = "id" + std::to_string(i);
        producers.push_back(init(id));
        write(id, producers.back());
        if (i % 2 == 0) {
            ASSERT_EQ(end(id, producers.back(), i % 4 == 0).error, ErrorCode::none);
        }
    }
    rest(kMinuteMs / 2);  // Folds.
    for (int round = 0; round < 2; ++round) {
        kill_and_restart();
        for (int i = 0; i < 50; ++i) {
            const auto found = describe("id" + std::to_string(i));
            EXPECT_EQ(found.producer.id, producers[static_cast<std::size_t>(i)].id);
            EXPECT_EQ(found.state, i % 2 != 0   ? TransactionState::ongoing
                                   : i % 4 == 0 ? TransactionState::complete_commit
                                                : TransactionState::complete_abort);
        }
    }
}

TEST_F(Transactions, FollowTheFinalizedLevelOfTheirFeature) {
    const auto finalize = [&](std::int16_t level, std::int8_t upgrade_type) {
        in_turn([&](logs::Turn& turn) {
            const catalog::UpdateFeatures command{
                .updates = {{.feature = catalog::kTransactionVersion, .level = level, .upgrade_type = upgrade_type}}};
            const auto reply = services().catalog.change(turn, command);
            ASSERT_TRUE(reply && !reply->error.failed());
        });
    };
    EXPECT_EQ(services().coordinators.transactions.config().version, TransactionVersion::v2);
    finalize(0, 2);
    EXPECT_EQ(services().coordinators.transactions.config().version, TransactionVersion::v0);
    // The broker ends a transaction by itself as in the old version: one epoch more.
    const Producer producer = init("a", 5'000);
    write("a", producer);
    rest(7'000);
    EXPECT_THAT(transactions_in("t"), ElementsAre("0/0", "abort 0/1"));
    kill_and_restart();
    EXPECT_EQ(services().coordinators.transactions.config().version, TransactionVersion::v0);
    finalize(2, 1);
    EXPECT_EQ(services().coordinators.transactions.config().version, TransactionVersion::v2);
}

// A power failure may take the record that an id was given out, and leave the record of its owner.
TEST_F(Transactions, KeepTheirProducerIdsFromOthers) {
    const ProducerId taken{123'456};
    const auto given =
        ask(transactions::InitProducerId{.transactional_id = "a", .timeout_ms = 1'000, .fresh_producer_id = taken});
    ASSERT_TRUE(given && given->producer.id == taken);
    kill_and_restart();
    EXPECT_GT(init("b").id, taken);
    const ProducerId after = init("c").id;
    kill_and_restart();
    EXPECT_GT(init("d").id, after);
}

// A power failure may leave any of the unsynced writes, in any log.
TEST_F(Transactions, OpenInAPartitionAndForgottenByTheirCoordinatorAreAborted) {
    const Producer known = init("known");
    write("known", known);
    write_unasked({ProducerId{77}, ProducerEpoch{3}}, "t");
    ASSERT_EQ(commit_offset("known", known, "g", 5), ErrorCode::none);
    kill_and_restart();
    EXPECT_THAT(transactions_in("t"), ElementsAre("0/0", "77/3", "abort 77/3"));
    EXPECT_TRUE(is_open("t")) << "whose coordinator knows it ends it";
    ASSERT_EQ(end("known", known, true).error, ErrorCode::none);
    EXPECT_FALSE(is_open("t"));
    EXPECT_EQ(fetch_offset("g"), (Fetched{ErrorCode::none, 5}));
    kill_and_restart();
    EXPECT_THAT(transactions_in("t"), ElementsAre("0/0", "77/3", "abort 77/3", "commit 0/1"));
}

TEST_F(Transactions, OpenInAPartitionWhoseRecordsWereAllDeletedAreFound) {
    write_unasked({ProducerId{77}, ProducerEpoch{3}}, "t");
    ASSERT_TRUE(log("t").delete_records_before(log("t").log_end_offset()).value());
    EXPECT_FALSE(is_open("t")) << "nothing is hidden yet";
    in_turn([&](logs::Turn&) {
        EXPECT_EQ(runtime::end_hanging_transactions(*services().topics.table(), services().coordinators.transactions,
                                                    services().coordinators.outward_writes, clock_.now()),
                  1U);
    });
    const Producer producer = init("a");
    write("a", producer);
    ASSERT_EQ(end("a", producer, true).error, ErrorCode::none);
    EXPECT_FALSE(is_open("t"));
}

TEST_F(Transactions, WhoseMarkerWasLostEndAsWasDecided) {
    make_topic("u");
    for (const bool is_commit : {true, false}) {
        const std::string id = is_commit ? "c" : "a";
        const Producer producer = init(id);
        write(id, producer, "t");
        ASSERT_EQ(end(id, producer, is_commit).error, ErrorCode::none);
        // The state is as if the marker of this partition had not been written, and that of the other one had.
        write_unasked(producer, "u");
    }
    // The next transaction of the same producer is unknown to its coordinator: undecided.
    const Producer next = init("n");
    write("n", next, "t");
    const Producer after = end("n", next, true).producer;
    write_unasked(after, "u");
    // This one is open in a partition of an earlier one: its end must not be the end of the earlier one.
    const Producer later = init("l");
    write_unasked(later, "u");
    const Producer open = end("l", later, false).producer;
    EXPECT_EQ(add("l", open, "u"), ErrorCode::none);
    kill_and_restart();
    EXPECT_THAT(transactions_in("u"),
                UnorderedElementsAre("0/0", "1/0", "2/1", "3/0", "commit 0/1", "abort 1/0", "abort 2/1", "abort 3/0"));
    EXPECT_FALSE(is_open("u"));
}

TEST_F(Transactions, EpochsThatTheirCoordinatorForgotAreNotGivenAgain) {
    const Producer known = init("known");
    const Producer forgotten{known.id, ProducerEpoch{5}};
    write_unasked(forgotten, "t");
    const Producer other = init("other");
    write("other", other, "t");
    kill_and_restart();
    EXPECT_EQ(init("known").epoch, ProducerEpoch{6});
    EXPECT_EQ(end("other", other, true).error, ErrorCode::none);
}

}  // namespace
}  // namespace partita::test
