// Producer ids across power failures.

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <string_view>

#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/22_init_producer_id.h"
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

/// Asks for the producer id of a transactional id that others ask for, too.
class Asker final : public SimulatedClient {
  public:
    using SimulatedClient::SimulatedClient;

    void find() {
        std::array<std::string_view, 1> keys{"shared"};
        ask<FindCoordinatorResponse>(4, FindCoordinatorRequest{.key_type = 1, .coordinator_keys = keys}, [](const auto&) {});
    }
    void act() override {
        ask<InitProducerIdResponse>(4, InitProducerIdRequest{.transactional_id = "shared", .transaction_timeout_ms = 1'000},
                                    [this](const auto& response) {
                                        ASSERT_EQ(response.error_code, ErrorCode::none);
                                        id = response.producer_id;
                                        epoch = response.producer_epoch;
                                    });
    }

    std::int64_t id = -1;
    std::int16_t epoch = -1;
};

// The first one who asks takes a fresh id, and is told when a power failure cannot have it given out again. The second one finds
// that it is taken.
TEST(ProducerIds, OfATransactionalIdAreToldToNobodyBeforeTheyAreDurable) {
    const TemporaryDirectory scratch;
    std::mt19937_64 random(1);
    VirtualClock clock;
    MortalBroker broker(random, clock, scratch.path(), 1);
    broker.overrides = {"transaction.state.log.num.partitions=1"};
    ASSERT_TRUE(broker.start());
    Ledger ledger(clock);
    ClientsWorld world{.ledger = ledger, .random = random, .clock = clock, .network = broker.network()};
    Asker one(world, "one");
    Asker other(world, "other");
    const auto rest = [&](std::int64_t duration_ms) {
        broker.wake();
        const Instant end = clock.now().monotonic + duration_ms;
        while (clock.now().monotonic < end) {
            if (!broker.step()) broker.let_time_pass(end - clock.now().monotonic);
        }
        one.read_replies();
        other.read_replies();
    };
    one.find();
    rest(5'000);
    ASSERT_FALSE(one.waits());

    one.act();
    other.act();
    for (int turn = 0; turn < 10; ++turn) (void)broker.services().turns.first_reactor().step();
    one.read_replies();
    other.read_replies();
    EXPECT_EQ(one.id, -1);
    EXPECT_EQ(other.id, -1);
    rest(1'000);
    EXPECT_GE(one.id, 0);
    EXPECT_EQ(one.id, other.id);
    EXPECT_EQ(one.epoch + other.epoch, 1);
}

TEST(ProducerIds, AreNotGivenAgainAfterAPowerFailure) {
    // What of unsynced bytes survives follows from the seed: with some of these nothing.
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
