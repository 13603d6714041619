// Producer ids across power failures.

#include <gtest/gtest.h>

#include "protocol/messages/22_init_producer_id.h"
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
