// Producer ids across power failures.

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "broker/logs/published_topics.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/24_add_partitions_to_txn.h"
#include "protocol/messages/26_end_txn.h"
#include "protocol/record_batch_builder.h"
#include "tests/simulation/broker_world_clients.h"
#include "tests/simulation/broker_world_mortal.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/memory_file_system.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

std::int64_t fresh_producer_id(InProcessBroker& broker) {
    WireClient client(broker.port());
    const auto* response = client.call<InitProducerIdResponse>(4, InitProducerIdRequest{.transactional_id = std::nullopt});
    return response == nullptr || response->error_code != ErrorCode::none ? -1 : response->producer_id;
}

constexpr std::int16_t kLastEpoch = 32'766;

/// Asks for the producer id of a transactional id that others ask for, too.
class Asker final : public SimulatedClient {
  public:
    using SimulatedClient::SimulatedClient;

    void find() {
        std::array<std::string_view, 1> keys{"shared"};
        ask<FindCoordinatorResponse>(4, FindCoordinatorRequest{.key_type = 1, .coordinator_keys = keys}, [](const auto&) {});
    }
    void make_topic() {
        std::array topics{CreateTopicsRequest::CreatableTopic{.name = "t", .num_partitions = 1, .replication_factor = 1}};
        ask<CreateTopicsResponse>(7, CreateTopicsRequest{.topics = topics}, [](const auto&) {});
    }
    void act() override {
        ask<InitProducerIdResponse>(4, InitProducerIdRequest{.transactional_id = "shared", .transaction_timeout_ms = 60'000},
                                    [this](const auto& response) { note(response); });
    }
    void add(std::int64_t producer_id) {
        std::array<std::int32_t, 1> partitions{0};
        std::array topics{AddPartitionsToTxnRequest::AddPartitionsToTxnTopic{.name = "t", .partitions = partitions}};
        ask<AddPartitionsToTxnResponse>(
            3,
            AddPartitionsToTxnRequest{.v3_and_below_transactional_id = "shared",
                                      .v3_and_below_producer_id = producer_id,
                                      .v3_and_below_producer_epoch = kLastEpoch,
                                      .v3_and_below_topics = topics},
            [](const auto& response) {
                EXPECT_EQ(response.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code,
                          ErrorCode::none);
            });
    }
    void end(std::int64_t producer_id) {
        ask<EndTxnResponse>(
            5,
            EndTxnRequest{
                .transactional_id = "shared", .producer_id = producer_id, .producer_epoch = kLastEpoch, .committed = true},
            [this](const auto& response) { note(response); });
    }

    std::int64_t id = -1;
    std::int16_t epoch = -1;

  private:
    template <class Response>
    void note(const Response& response) {
        EXPECT_EQ(response.error_code, ErrorCode::none);
        id = response.producer_id;
        epoch = response.producer_epoch;
    }
};

/// The first client that asks takes a fresh id, and gets its answer when a power failure can no longer make the broker give it
/// out again. The second one finds that the id is taken.
class ToldProducerIds : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_.overrides = {"transaction.state.log.num.partitions=1"};
        ASSERT_TRUE(broker_.start());
        world_.network = broker_.network();
        one_.find();
        one_.make_topic();
        rest(5'000);
        ASSERT_FALSE(one_.waits());
    }
    void rest(std::int64_t duration_ms) {
        broker_.wake();
        const Instant end = clock_.now().monotonic + duration_ms;
        while (clock_.now().monotonic < end) {
            if (!broker_.step()) {
                broker_.let_time_pass(end - clock_.now().monotonic);
            }
        }
        read_replies();
    }
    void read_replies() {
        one_.read_replies();
        other_.read_replies();
    }
    /// Expects that both have asked and wait. Nothing is synced as long as only the reactor runs.
    void expect_that_both_wait() {
        for (Asker* asker : {&one_, &other_}) {
            asker->id = asker->epoch = -1;
        }
        for (int turn = 0; turn < 10; ++turn) {
            (void)broker_.services().turns.first_reactor().step();
        }
        read_replies();
        EXPECT_EQ(one_.id, -1);
        EXPECT_EQ(other_.id, -1);
        rest(1'000);
        EXPECT_GE(one_.id, 0);
        EXPECT_EQ(one_.id, other_.id);
    }

    const TemporaryDirectory scratch_;
    std::mt19937_64 random_{1};
    VirtualClock clock_;
    MortalBroker broker_{random_, clock_, scratch_.path(), 1};
    Ledger ledger_{clock_};
    ClientsWorld world_{.ledger = ledger_, .random = random_, .clock = clock_};
    Asker one_{world_, "one"};
    Asker other_{world_, "other"};
};

TEST_F(ToldProducerIds, OfATransactionalIdAreToldToNobodyBeforeTheyAreDurable) {
    one_.act();
    other_.act();
    expect_that_both_wait();
    EXPECT_EQ(one_.epoch + other_.epoch, 1);
}

TEST_F(ToldProducerIds, ThatFollowTheLastEpochAreToldToNobodyBeforeTheyAreDurable) {
    one_.act();
    rest(1'000);
    const std::int64_t used_up = one_.id;
    // A start that no stop preceded finds the epoch in the log.
    BatchBuilder builder({.producer_id = {used_up}, .producer_epoch = {kLastEpoch}, .base_sequence = {0}});
    builder.append(clock_.now().wall, std::nullopt, as_bytes(std::string("v")));
    std::vector<std::byte> batch;
    builder.build(batch);
    PartitionLog& log = *broker_.services().topics.table()->find("t")->partitions[0]->log;
    ASSERT_TRUE(log.append(batch, {.now = clock_.now().wall}));
    broker_.die(MortalBroker::Death::kill);
    world_.network = nullptr;
    for (Asker* asker : {&one_, &other_}) {
        asker->lose_connection();
    }
    ASSERT_TRUE(broker_.restart(100));
    world_.network = broker_.network();
    one_.add(used_up);
    rest(5'000);

    one_.end(used_up);
    other_.end(used_up);
    expect_that_both_wait();
    EXPECT_NE(one_.id, used_up);
    EXPECT_EQ(one_.epoch, 0);
    EXPECT_EQ(other_.epoch, 0);
}

TEST(ProducerIds, AreNotGivenAgainAfterAPowerFailure) {
    // The seed decides which unsynced bytes survive; with some of these seeds none do.
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const TemporaryDirectory scratch;
        MemoryFileSystem files;
        const InProcessBroker::Options options{.data_directory = scratch.path(), .file_system = &files};
        // The administrator made the data directory long ago.
        ASSERT_TRUE(files.make_directories(scratch.path()));
        for (std::size_t at = 0; at != std::string::npos; at = scratch.path().find('/', at + 1)) {
            ASSERT_TRUE(files.sync_directory(scratch.path().substr(0, at)));
        }
        auto broker = InProcessBroker::start(options);
        ASSERT_NE(broker, nullptr);
        const std::int64_t before = fresh_producer_id(*broker);
        ASSERT_GE(before, 0);
        broker.reset();
        files.crash_power(seed);
        broker = InProcessBroker::start(options);
        ASSERT_NE(broker, nullptr);
        EXPECT_GT(fresh_producer_id(*broker), before) << "seed " << seed;
    }
}

}  // namespace
}  // namespace partita::test
