// Many connections, slow ones, pipelines, waiting requests, and the limits on all of them.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <thread>

#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/18_api_versions.h"
#include "tests/support/broker_process.h"
#include "tests/support/good_neighbour.h"
#include "tests/support/plain_client.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kTopic = "target";

// With Kafka's default of 50, the kernel sends away clients that come faster than the broker accepts them, and they try again
// after a second. This is right, but wastes the test's time.
const std::string kLongQueue = "socket.listen.backlog.size=1024";

const ApiInfo& api_versions_api() { return *find_api(ApiKey::api_versions); }

/// A fetch from offset 0 that waits for data.
std::vector<std::byte> waiting_fetch(std::int32_t max_wait_ms, std::int32_t id, std::int64_t offset = 0) {
    std::array partitions{FetchRequest::FetchPartition{.partition = 0, .fetch_offset = offset, .partition_max_bytes = 1 << 26}};
    std::array topics{FetchRequest::FetchTopic{.topic = kTopic, .partitions = partitions}};
    return request_frame(11, FetchRequest{.max_wait_ms = max_wait_ms, .min_bytes = 1, .topics = topics}, id);
}

double connection_count(const BrokerProcess& broker) {
    return broker.metric("kafka_server_socketservermetrics_connection_count").value_or(-1);
}

TEST(Pipelining, TenThousandRequestsInOneWriteAreAnsweredInOrder) {
    const auto broker = BrokerProcess::start();
    ASSERT_NE(broker, nullptr);
    constexpr int kRequests = 10'000;
    std::vector<std::byte> all;
    for (int i = 0; i < kRequests; ++i) {
        const auto frame = request_frame(0, ApiVersionsRequest{}, i);
        all.insert(all.end(), frame.begin(), frame.end());
    }
    WireClient client(broker->port());
    // The client reads replies only after it sent everything. Socket buffers hold less than that, so the broker must stop reading
    // for a while and may not lose anything.
    std::thread sender([&] { client.send(all); });
    for (int i = 0; i < kRequests; ++i) {
        if (client.read_reply(api_versions_api(), 0, i, WireClient::kPatience) == nullptr) {
            ADD_FAILURE() << i << ": " << client.failure();
            break;
        }
    }
    sender.join();
    EXPECT_EQ(broker->stop().exit_code, 0);
}

TEST(Pipelining, RepliesKeepTheirOrderBehindAWaitingFetch) {
    const auto broker = BrokerProcess::start();
    ASSERT_NE(broker, nullptr);
    WireClient client(broker->port());
    ASSERT_TRUE(create_topic(client, kTopic, 1));
    std::vector<std::byte> bytes = request_frame(0, ApiVersionsRequest{}, 1);
    const auto append = [&](const std::vector<std::byte>& frame) { bytes.insert(bytes.end(), frame.begin(), frame.end()); };
    append(waiting_fetch(600'000, 2));
    for (int id = 3; id < 200; ++id) {
        append(request_frame(0, ApiVersionsRequest{}, id));
    }
    ASSERT_TRUE(client.send(bytes));
    ASSERT_NE(client.read_reply(api_versions_api(), 0, 1, WireClient::kPatience), nullptr) << client.failure();
    EXPECT_TRUE(client.is_silent_for(200ms)) << "nothing overtakes the fetch";
    WireClient producer(broker->port());
    const std::array values{std::string("v")};
    EXPECT_EQ(produce(producer, kTopic, 0, make_batch(values)), ErrorCode::none);
    const auto* fetched =
        static_cast<const FetchResponse*>(client.read_reply(*find_api(ApiKey::fetch), 11, 2, WireClient::kPatience));
    ASSERT_NE(fetched, nullptr) << client.failure();
    EXPECT_GT(fetched->responses[0].partitions[0].records.size, 0);
    for (int id = 3; id < 200; ++id) {
        ASSERT_NE(client.read_reply(api_versions_api(), 0, id, WireClient::kPatience), nullptr) << id << client.failure();
    }
    EXPECT_EQ(broker->stop().exit_code, 0);
}

TEST(WaitingRequests, EndWithTheirConnection) {
    const auto broker = BrokerProcess::start({.overrides = {kLongQueue}});
    ASSERT_NE(broker, nullptr);
    WireClient first(broker->port());
    ASSERT_TRUE(create_topic(first, kTopic, 1));
    const std::int64_t before = broker->resident_kib();
    for (int round = 0; round < 2000; ++round) {
        WireClient client(broker->port());
        ASSERT_TRUE(client.send(waiting_fetch(2'000'000'000, 1)));
        if (round % 100 == 0) {
            EXPECT_TRUE(client.is_silent_for(2ms));
        }
    }
    EXPECT_TRUE(eventually([&] { return connection_count(*broker) == 1; })) << connection_count(*broker);
    EXPECT_LT(broker->resident_kib(), before + 16 * 1024 * patience());
    EXPECT_EQ(broker->stop().exit_code, 0);
}

TEST(SlowReaders, AreWaitedForWithoutHoldingTheirData) {
    const auto broker = BrokerProcess::start();
    ASSERT_NE(broker, nullptr);
    WireClient client(broker->port());
    ASSERT_TRUE(create_topic(client, kTopic, 1));
    const std::array values{std::string(900'000, 'x')};
    const auto batch = make_batch(values);
    for (int i = 0; i < 30; ++i) {
        ASSERT_EQ(produce(client, kTopic, 0, batch), ErrorCode::none);
    }
    GoodNeighbour neighbour(broker->port(), "neighbour");
    const std::int64_t before = broker->resident_kib();
    std::vector<WireClient> readers;
    for (int i = 0; i < 100; ++i) {
        readers.emplace_back(broker->port(), "127.0.0.1", 4096);
        for (int request = 0; request < 20; ++request) {
            ASSERT_TRUE(readers.back().send(waiting_fetch(10, request)));
        }
    }
    std::this_thread::sleep_for(500ms);
    // 2,000 replies of 27 MB are pending.
    EXPECT_LT(broker->resident_kib(), before + 16 * 1024 * patience());
    neighbour.finish();
    // One of them begins to read after all, and gets the records that it asked for.
    const auto* late =
        static_cast<const FetchResponse*>(readers[50].read_reply(*find_api(ApiKey::fetch), 11, 0, WireClient::kPatience));
    ASSERT_NE(late, nullptr) << readers[50].failure();
    EXPECT_EQ(late->responses[0].partitions[0].records.size, static_cast<std::int32_t>(30 * batch.size()));
    readers.clear();
    EXPECT_TRUE(eventually([&] { return connection_count(*broker) <= 2; }));
    EXPECT_EQ(broker->stop().exit_code, 0);
}

TEST(ManyConnections, NearlyTenThousandAreHeldAndServedAndForgotten) {
    const std::uint64_t limit = raise_open_files_limit();
    const std::size_t wanted = std::min<std::size_t>(10'000, static_cast<std::size_t>(limit) - 200);
    const auto broker = BrokerProcess::start({.overrides = {kLongQueue}});
    ASSERT_NE(broker, nullptr);
    GoodNeighbour neighbour(broker->port(), "neighbour");
    const std::int64_t before = broker->resident_kib();
    std::vector<WireClient> clients;
    clients.reserve(wanted);
    for (std::size_t i = 0; i < wanted; ++i) {
        // Loopback has enough ports for one address here; two keep the halves apart.
        clients.emplace_back(broker->port(), i % 2 == 0 ? "127.0.0.1" : "::1");
        ASSERT_TRUE(clients.back().is_connected()) << i;
    }
    EXPECT_TRUE(eventually([&] { return connection_count(*broker) >= static_cast<double>(wanted); }));
    for (std::size_t i = 0; i < wanted; i += 97) {
        EXPECT_NE(clients[i].call<ApiVersionsResponse>(0, ApiVersionsRequest{}), nullptr) << clients[i].failure();
    }
    EXPECT_LT(broker->resident_kib(), before + static_cast<std::int64_t>(wanted) * 4 * patience());
    const auto cpu = broker->processor_time();
    clients.clear();
    EXPECT_TRUE(eventually([&] { return connection_count(*broker) <= 1; })) << connection_count(*broker);
    neighbour.finish();
    EXPECT_LT(broker->processor_time() - cpu, 5s * patience());
    EXPECT_EQ(broker->stop().exit_code, 0);
}

TEST(ManyConnections, AStormOfReconnectsLeavesNothingBehind) {
    const auto broker = BrokerProcess::start({.overrides = {kLongQueue}});
    ASSERT_NE(broker, nullptr);
    GoodNeighbour neighbour(broker->port(), "neighbour");
    const int descriptors = broker->open_descriptors();
    for (int i = 0; i < 3000; ++i) {
        WireClient client(broker->port());
        ASSERT_TRUE(client.is_connected());
        if (i % 3 == 0) {
            client.send(request_frame(0, ApiVersionsRequest{}));
        }
        if (i % 3 == 1) {
            const linger reset{1, 0};
            ::setsockopt(client.descriptor(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        }
    }
    EXPECT_TRUE(eventually([&] { return connection_count(*broker) == 1; })) << connection_count(*broker);
    // These are for the neighbour's files and a request for metrics; there are no thousands of sockets.
    EXPECT_LE(broker->open_descriptors(), descriptors + 32);
    neighbour.finish();
    EXPECT_EQ(broker->stop().exit_code, 0);
}

TEST(ConnectionLimits, PerAddressClosesTheSurplus) {
    const auto broker = BrokerProcess::start({.overrides = {"max.connections.per.ip=5"}});
    ASSERT_NE(broker, nullptr);
    std::vector<WireClient> clients;
    for (int i = 0; i < 5; ++i) {
        clients.emplace_back(broker->port());
        ASSERT_NE(clients.back().call<ApiVersionsResponse>(0, ApiVersionsRequest{}), nullptr);
    }
    WireClient surplus(broker->port());
    EXPECT_TRUE(surplus.is_closed_within());
    EXPECT_TRUE(broker->wait_for_output("max.connections.per.ip"));
    WireClient elsewhere(broker->port(), "::1");
    EXPECT_NE(elsewhere.call<ApiVersionsResponse>(0, ApiVersionsRequest{}), nullptr) << "another address has its own count";
    clients.pop_back();
    EXPECT_TRUE(eventually([&] {
        WireClient again(broker->port());
        return again.call<ApiVersionsResponse>(0, ApiVersionsRequest{}) != nullptr;
    }));
}

TEST(ConnectionLimits, InAllMakesTheNextOneWait) {
    const auto broker = BrokerProcess::start({.overrides = {"max.connections=4"}});
    ASSERT_NE(broker, nullptr);
    std::vector<WireClient> clients;
    for (int i = 0; i < 4; ++i) {
        clients.emplace_back(broker->port());
        ASSERT_NE(clients.back().call<ApiVersionsResponse>(0, ApiVersionsRequest{}), nullptr);
    }
    WireClient waiting(broker->port());
    waiting.send(request_frame(0, ApiVersionsRequest{}, 1));
    EXPECT_TRUE(waiting.is_silent_for(300ms));
    clients.pop_back();
    EXPECT_NE(waiting.read_reply(api_versions_api(), 0, 1, WireClient::kPatience), nullptr) << waiting.failure();
}

TEST(ConnectionLimits, WithoutDescriptorsAcceptingPausesAndComesBack) {
    const auto broker = BrokerProcess::start({.overrides = {kLongQueue}, .open_files_max = 256});
    ASSERT_NE(broker, nullptr);
    WireClient early(broker->port());
    ASSERT_TRUE(create_topic(early, kTopic, 400));
    std::vector<WireClient> crowd;
    for (int i = 0; i < 400; ++i) {
        crowd.emplace_back(broker->port());
    }
    std::this_thread::sleep_for(200ms);
    const auto before = broker->processor_time();
    std::this_thread::sleep_for(1s);
    EXPECT_LT(broker->processor_time() - before, 300ms * patience()) << "no turning on the spot";
    // Connected clients can work, on many partitions.
    const std::array values{std::string("v")};
    const auto batch = make_batch(values);
    for (int partition = 0; partition < 400; ++partition) {
        ASSERT_EQ(produce(early, kTopic, partition, batch), ErrorCode::none) << partition;
    }
    crowd.clear();
    WireClient late(broker->port());
    EXPECT_NE(late.call<ApiVersionsResponse>(0, ApiVersionsRequest{}), nullptr) << late.failure();
}

TEST(RequestMemory, WhenItIsUsedUpRequestsWaitAndTheProcessorRests) {
    const auto broker =
        BrokerProcess::start({.overrides = {"socket.request.max.bytes=4194304", "queued.max.request.bytes=4194304"}});
    ASSERT_NE(broker, nullptr);
    std::vector<WireClient> clients;
    for (int i = 0; i < 12; ++i) {
        clients.emplace_back(broker->port());
        std::vector<std::byte> part(900 * 1024);
        store_big_endian(part.data(), std::int32_t{3 * 1024 * 1024});
        clients.back().send(part, 300ms);
    }
    GoodNeighbour neighbour(broker->port(), "neighbour");
    std::this_thread::sleep_for(300ms);
    const auto before = broker->processor_time();
    std::this_thread::sleep_for(1s);
    EXPECT_LT(broker->processor_time() - before, 600ms * patience());
    neighbour.finish();
    clients.clear();
    EXPECT_EQ(broker->stop().exit_code, 0);
}

}  // namespace
}  // namespace partita::test
