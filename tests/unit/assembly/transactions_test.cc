// Transactions in a whole broker, by commands of its coordinators: what is left of them when it dies between any two steps, when
// a write fails, and when topics go.

#include <gmock/gmock.h>

#include <cerrno>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/coordinators/outward_writes.h"
#include "broker/runtime/coordinators/transaction_shards.h"
#include "broker/runtime/partitions/published_topics.h"
#include "broker/runtime/partitions/turns.h"
#include "broker/topics/features.h"
#include "protocol/record_batch_builder.h"
#include "storage/log_directory.h"
#include "tests/simulation/broker_world_mortal.h"
#include "tests/support/broker_process.h"
#include "tests/support/storage_fixture.h"

namespace partita::test {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using transactions::Producer;
using transactions::TransactionState;
using transactions::TransactionVersion;

constexpr std::int64_t kMinuteMs = 60'000;

class Transactions : public ::testing::Test {
  protected:
    void SetUp() override { begin({}); }
    void begin(std::vector<std::string> overrides) {
        broker_.overrides = {"offsets.topic.num.partitions=1", "transaction.state.log.num.partitions=1",
                             "transaction.abort.timed.out.transaction.cleanup.interval.ms=1000", "log.retention.ms=-1"};
        broker_.overrides.insert(broker_.overrides.end(), overrides.begin(), overrides.end());
        const auto began = broker_.start();
        ASSERT_TRUE(began) << began.error();
        in_turn([&](runtime::Turn& turn) {
            ASSERT_TRUE(services().catalog.make_topic_of(topics::CoordinatorKind::groups, turn));
            ASSERT_TRUE(services().catalog.make_topic_of(topics::CoordinatorKind::transactions, turn));
        });
        make_topic("t");
    }
    [[nodiscard]] runtime::Services& services() { return broker_.services(); }
    /// On the reactor, as a request would.
    template <class Act>
    void in_turn(Act act) {
        bool is_done = false;
        services().turns.first_reactor().post([&] {
            act(services().turns.first());
            is_done = true;
        });
        broker_.wake();
        while (!is_done && !broker_.is_dead()) {
            ASSERT_TRUE(broker_.step()) << "nobody does it";
        }
    }
    /// Whatever the broker does by itself in so much time.
    void rest(std::int64_t duration_ms) {
        const Instant end = clock_.now().monotonic + duration_ms;
        while (clock_.now().monotonic < end && !broker_.is_dead()) {
            if (!broker_.step()) broker_.let_time_pass(end - clock_.now().monotonic);
        }
    }
    void restart() {
        const auto began = broker_.restart(100);
        ASSERT_TRUE(began) << began.error();
    }
    void kill_and_restart() {
        broker_.die(MortalBroker::Death::kill);
        restart();
    }

    // Topics -------------------------------------------------------------------------------------

    void make_topic(const std::string& name) {
        in_turn([&](runtime::Turn& turn) {
            const auto made = services().catalog.change<topics::CreatedTopic>(
                turn, [&](const topics::CatalogCore& core, const topics::CatalogContext& context) {
                    return core.auto_create_topic(name, context);
                });
            ASSERT_TRUE(made && !made->error.failed());
        });
    }
    void delete_topic(const std::string& name) {
        in_turn([&](runtime::Turn& turn) {
            const auto deleted = services().catalog.change<topics::DeleteTopicsReply>(
                turn, [&](const topics::CatalogCore& core, const topics::CatalogContext& context) {
                    return core.delete_topics({.topics = {{.name = name, .id = {}}}, .client = {}}, context);
                });
            ASSERT_TRUE(deleted);
        });
    }
    [[nodiscard]] PartitionLog& log(const std::string& topic) {
        return *services().topics.table()->find(topic)->partitions.front()->log;
    }
    /// Its batches that say something of transactions: "7/0" for data, "commit 7/0" for a marker.
    [[nodiscard]] std::vector<std::string> transactions_in(const std::string& topic) {
        std::vector<std::string> found;
        std::string bytes = read_all(log(topic), Offset{0});
        std::vector<std::byte> copy(as_bytes(bytes).begin(), as_bytes(bytes).end());
        BatchCursor cursor(copy);
        while (cursor.next()) {
            const BatchHeader& header = cursor.batch().header;
            if (!header.attributes.is_transactional()) continue;
            std::string text = std::to_string(header.producer_id.value) + "/" + std::to_string(header.producer_epoch.value);
            RecordReader reader(cursor.batch());
            RecordView record;
            if (header.attributes.is_control() && reader.next(record).value_or(false)) {
                const auto marker = parse_end_transaction_marker(record);
                text = (!marker ? "? " : marker->type == ControlRecordType::commit ? "commit " : "abort ") + text;
            }
            found.push_back(std::move(text));
        }
        return found;
    }
    [[nodiscard]] bool is_open(const std::string& topic) { return log(topic).last_stable_offset() < log(topic).log_end_offset(); }

    // Producers ----------------------------------------------------------------------------------

    template <class Command>
    [[nodiscard]] std::optional<typename Command::Result> ask(Command command) {
        std::optional<typename Command::Result> result;
        in_turn([&](runtime::Turn& turn) {
            result = services().transactions.ask(turn, command.transactional_id, std::move(command));
        });
        return result;
    }
    [[nodiscard]] Producer init(const std::string& id, std::int32_t timeout_ms = kMinuteMs) {
        transactions::InitProducerId command{.transactional_id = id, .timeout_ms = timeout_ms};
        auto result = ask(command);
        if (result && result->needs_producer_id) {
            in_turn([&](runtime::Turn& turn) { command.fresh_producer_id = services().catalog.next_producer_id(turn); });
            result = ask(command);
        }
        EXPECT_TRUE(result.has_value());
        EXPECT_EQ(result->error, ErrorCode::none);
        return result->producer;
    }
    [[nodiscard]] ErrorCode add(const std::string& id, Producer producer, const std::string& topic) {
        const transactions::TopicPartition partition{topic, {0}};
        const auto result = ask(transactions::AddPartitions{.transactional_id = id,
                                                            .producer = producer,
                                                            .partitions = {&partition, 1},
                                                            .client_version = TransactionVersion::v2});
        return result ? result->error : ErrorCode::not_coordinator;
    }
    /// One record, as the handler of Produce writes it.
    void write(const std::string& id, Producer producer, const std::string& topic = "t") {
        std::vector<std::byte> batch;
        BatchBuilder builder(
            {.producer_id = producer.id, .producer_epoch = producer.epoch, .base_sequence = {0}, .transactional = true});
        builder.append(clock_.now().wall, std::nullopt, as_bytes(id));
        builder.build(batch);
        const auto header = parse_batch_header(batch);
        ASSERT_TRUE(header.has_value());
        const auto verification = log(topic).begin_verification(*header, true, clock_.now().wall);
        ASSERT_EQ(add(id, producer, topic), ErrorCode::none);
        in_turn([&](runtime::Turn&) {
            const auto appended =
                log(topic).append(batch, {.now = clock_.now().wall, .verification = verification.value_or(kNotVerified)});
            ASSERT_TRUE(appended) << appended.error().message;
        });
    }
    /// A record of a transaction that no coordinator was asked about.
    void write_unasked(Producer producer, const std::string& topic) {
        std::vector<std::byte> batch;
        BatchBuilder builder(
            {.producer_id = producer.id, .producer_epoch = producer.epoch, .base_sequence = {0}, .transactional = true});
        builder.append(clock_.now().wall, std::nullopt, as_bytes("unasked"));
        builder.build(batch);
        in_turn([&](runtime::Turn&) { ASSERT_TRUE(log(topic).append(batch, {.now = clock_.now().wall})); });
    }
    /// As the handler of TxnOffsetCommit commits.
    [[nodiscard]] ErrorCode commit_offset(const std::string& id, Producer producer, const std::string& group,
                                          std::int64_t offset) {
        runtime::GroupShards& groups = services().groups;
        const auto verification = groups.begin_verification(group, producer.id, producer.epoch, true, clock_.now());
        if (verification) {
            if (const ErrorCode error = add(id, producer, "__consumer_offsets"); error != ErrorCode::none) return error;
        }
        return commit_verified(producer, group, offset, verification.value_or(kNotVerified));
    }
    [[nodiscard]] ErrorCode commit_verified(Producer producer, const std::string& group, std::int64_t offset,
                                            TransactionVerification verification) {
        ErrorCode error = ErrorCode::none;
        in_turn([&](runtime::Turn& turn) { error = commit_in(turn, producer, group, offset, verification); });
        return error;
    }
    [[nodiscard]] ErrorCode commit_in(runtime::Turn& turn, Producer producer, const std::string& group, std::int64_t offset,
                                      TransactionVerification verification) {
        const groups::OffsetCommit::Partition partition{.partition = {0}, .offset = {offset}, .metadata = {}};
        const groups::OffsetCommit::Topic topic{.name = "t", .topic_id = {}, .partitions = {&partition, 1}};
        const auto result = services().groups.commit_in_transaction(
            turn,
            {.offsets = {.group_id = group, .member_id = {}, .group_instance_id = {}, .topics = {&topic, 1}, .reply_to = {}},
             .producer_id = producer.id,
             .producer_epoch = producer.epoch,
             .reply_to = {}},
            verification);
        return result ? result->error : ErrorCode::not_coordinator;
    }
    struct Fetched {
        ErrorCode error = ErrorCode::none;
        std::int64_t offset = -1;
        friend bool operator==(const Fetched&, const Fetched&) = default;
        friend void PrintTo(const Fetched& fetched, std::ostream* out) {
            *out << error_name(fetched.error) << " " << fetched.offset;
        }
    };
    [[nodiscard]] Fetched fetch_offset(const std::string& group, bool require_stable = true) {
        const PartitionIndex partition{0};
        const groups::OffsetFetch::Topic topic{.name = "t", .topic_id = {}, .partitions = {&partition, 1}};
        const groups::OffsetFetch::Group wanted{.group_id = group, .member_id = {}, .topics = std::span(&topic, 1)};
        Fetched fetched{ErrorCode::not_coordinator};
        in_turn([&](runtime::Turn& turn) {
            const auto result = services().groups.ask(
                turn, group, groups::OffsetFetch{.groups = {&wanted, 1}, .require_stable = require_stable, .reply_to = {}});
            if (!result) return;
            const auto& found = result->groups.at(0).topics.at(0).partitions.at(0);
            fetched = {found.error, found.offset.value};
        });
        return fetched;
    }
    [[nodiscard]] transactions::EndTransactionResult end(const std::string& id, Producer producer, bool commit) {
        const auto result = ask(transactions::EndTransaction{
            .transactional_id = id, .producer = producer, .commit = commit, .client_version = TransactionVersion::v2});
        return result.value_or(transactions::EndTransactionResult{.error = ErrorCode::not_coordinator});
    }
    [[nodiscard]] transactions::DescribeTransactionResult describe(const std::string& id) {
        const auto result = ask(transactions::DescribeTransaction{.transactional_id = id});
        return result.value_or(transactions::DescribeTransactionResult{.error = ErrorCode::not_coordinator});
    }

    const TemporaryDirectory scratch_;
    std::mt19937_64 random_{7};
    VirtualClock clock_;
    MortalBroker broker_{random_, clock_, scratch_.path(), 7};
};

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
    const auto overtaken = services().groups.begin_verification("g", ended.producer.id, ended.producer.epoch, true, clock_.now());
    ASSERT_TRUE(overtaken.has_value());
    EXPECT_EQ(commit_verified(producer, "g", 6, *overtaken), ErrorCode::invalid_producer_epoch);
    EXPECT_EQ(commit_verified(ended.producer, "g", 6, kNotVerified), ErrorCode::invalid_txn_state);
    EXPECT_TRUE(services().groups.is_complete()) << "nobody has to be rebuilt";
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

// Before each change of a file in turn. Either the transaction was not decided and is open as before, or it ends as it was
// decided in all partitions, whatever the client was told.
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
        if (is_over) broker_.die(MortalBroker::Death::kill);
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
        for (std::size_t i = before; i < now.size(); ++i) EXPECT_EQ(now[i], marker) << changes;
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
    // Behind the decision.
    broker_.files().fail_write("/__transaction_state-0/", ENOSPC, 1);
    EXPECT_EQ(end("a", producer, true).error, ErrorCode::none);
    EXPECT_FALSE(services().transactions.is_complete());
    rest(1'000);
    EXPECT_TRUE(services().transactions.is_complete());
    EXPECT_EQ(describe("a").state, TransactionState::complete_commit);
    EXPECT_FALSE(is_open("t"));
    // A second marker changes nothing.
    EXPECT_THAT(transactions_in("t"), ElementsAre("0/0", "commit 0/1", "commit 0/1"));
}

TEST_F(Transactions, AMarkerForOffsetsWaitsUntilTheirCoordinatorIsRebuilt) {
    const Producer producer = init("a");
    ASSERT_EQ(commit_offset("a", producer, "g", 5), ErrorCode::none);
    in_turn([&](runtime::Turn& turn) {
        broker_.files().fail_write("/__consumer_offsets-0/", ENOSPC);
        ASSERT_EQ(commit_in(turn, producer, "g", 6, kNotVerified), ErrorCode::not_coordinator);
        ASSERT_FALSE(services().groups.is_complete());
        const auto ended = services().transactions.ask(
            turn, "a",
            transactions::EndTransaction{
                .transactional_id = "a", .producer = producer, .commit = true, .client_version = TransactionVersion::v2});
        ASSERT_TRUE(ended && ended->error == ErrorCode::none);
        EXPECT_TRUE(is_open("__consumer_offsets")) << "whoever rebuilds reads the log";
    });
    rest(1'000);
    EXPECT_TRUE(services().groups.is_complete());
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
    delete_topic("__transaction_state");
    EXPECT_FALSE(services().transactions.is_attached());
    EXPECT_EQ(end("a", producer, true).error, ErrorCode::not_coordinator);
    in_turn(
        [&](runtime::Turn& turn) { ASSERT_TRUE(services().catalog.make_topic_of(topics::CoordinatorKind::transactions, turn)); });
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
        in_turn([&](runtime::Turn& turn) {
            const topics::UpdateFeaturesCommand command{
                .updates = {{.feature = topics::kTransactionVersion, .level = level, .upgrade_type = upgrade_type}}};
            const auto reply = services().catalog.change<topics::UpdateFeaturesReply>(
                turn, [&](const topics::CatalogCore& core, const topics::CatalogContext&) {
                    return topics::update_features(core.snapshot(), command, BrokerId{0});
                });
            ASSERT_TRUE(reply && !reply->error.failed());
        });
    };
    EXPECT_EQ(services().transactions.config().version, TransactionVersion::v2);
    finalize(0, 2);
    EXPECT_EQ(services().transactions.config().version, TransactionVersion::v0);
    // What the broker ends by itself it ends as of old: one epoch more.
    const Producer producer = init("a", 5'000);
    write("a", producer);
    rest(7'000);
    EXPECT_THAT(transactions_in("t"), ElementsAre("0/0", "abort 0/1"));
    kill_and_restart();
    EXPECT_EQ(services().transactions.config().version, TransactionVersion::v0);
    finalize(2, 1);
    EXPECT_EQ(services().transactions.config().version, TransactionVersion::v2);
}

// A power failure may take what says that an id was given out, and leave the record of whom it was given to.
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

// What a power failure leaves of writes that nobody synced: any of them, in any log.
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

TEST_F(Transactions, WhoseMarkerWasLostEndAsWasDecided) {
    make_topic("u");
    for (const bool is_commit : {true, false}) {
        const std::string id = is_commit ? "c" : "a";
        const Producer producer = init(id);
        write(id, producer, "t");
        ASSERT_EQ(end(id, producer, is_commit).error, ErrorCode::none);
        // As if the marker of this partition had not been written, and that of the other one had.
        write_unasked(producer, "u");
    }
    // The next transaction of the same producer, of which its coordinator does not know: undecided.
    const Producer next = init("n");
    write("n", next, "t");
    const Producer after = end("n", next, true).producer;
    write_unasked(after, "u");
    // One that is open in a partition of an earlier one: its end must not be the end of that.
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
