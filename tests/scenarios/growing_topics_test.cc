// Tests what the broker, as it is shipped, tells clients while topics grow.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "protocol/messages/03_metadata.h"
#include "protocol/messages/42_delete_groups.h"
#include "tests/support/broker_process.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

/// Returns what Metadata lists for a topic: partition indexes in the order of the answer. Empty when it failed.
std::vector<std::int32_t> listed_partitions(PlainClient& client, const std::string& topic) {
    MetadataRequest::Topic wanted{.name = topic};
    MetadataRequest request;
    request.topics = {&wanted, 1};
    const auto* answer = client.wire().call<MetadataResponse>(12, request);
    std::vector<std::int32_t> listed;
    if (answer == nullptr || answer->topics.empty() || answer->topics[0].error_code != ErrorCode::none) {
        return listed;
    }
    for (const auto& partition : answer->topics[0].partitions) {
        if (partition.error_code != ErrorCode::none || partition.leader_id < 0) {
            return {};
        }
        listed.push_back(partition.partition_index);
    }
    return listed;
}

// Clients of five languages place keys by the length of this list: an answer that leaves one out would move every key.
TEST(Growing, MetadataListsEveryPartitionInOrderAtEveryMoment) {
    const auto broker = BrokerProcess::start();
    ASSERT_NE(broker, nullptr);
    PlainClient admin(broker->port());
    ASSERT_EQ(admin.create_topic("orders", 1).error, ErrorCode::none);
    constexpr int kLast = 60;
    std::atomic<int> count = 1;
    std::atomic<int> answers = 0;
    std::atomic<bool> is_over = false;
    std::vector<std::string> wrong(2);
    std::vector<std::thread> readers;
    for (std::string& complaint : wrong) {
        readers.emplace_back([&] {
            PlainClient client(broker->port());
            int seen = 1;
            while (!is_over && complaint.empty()) {
                const int least = count;
                const std::vector<std::int32_t> listed = listed_partitions(client, "orders");
                for (std::size_t index = 0; index < listed.size(); ++index) {
                    if (listed[index] != static_cast<std::int32_t>(index)) {
                        complaint = "out of order";
                    }
                }
                const int length = static_cast<int>(listed.size());
                // Metadata shows the acknowledged growth, and no later answer takes it back.
                if (length < least || length < seen) {
                    complaint = std::to_string(length) + " after " + std::to_string(std::max(seen, least));
                }
                seen = length;
                ++answers;
            }
        });
    }
    for (int next = 2; next <= kLast; ++next) {
        ASSERT_EQ(admin.expand_topic("orders", next), ErrorCode::none);
        count = next;
    }
    const int when_grown = answers;
    EXPECT_TRUE(eventually([&] { return answers > when_grown + 4; }));
    is_over = true;
    for (std::thread& reader : readers) {
        reader.join();
    }
    for (const std::string& complaint : wrong) {
        EXPECT_EQ(complaint, "");
    }
    EXPECT_EQ(listed_partitions(admin, "orders").size(), static_cast<std::size_t>(kLast));
}

// After a crash, the start repairs an expansion; it gives no offset to a group that does not read the topic any more.
TEST(Growing, AGroupThatWasDeletedAfterItWasSeededStaysDeletedWhenTheBrokerIsKilled) {
    const TemporaryDirectory directory;
    const BrokerProcess::Options options{.overrides = {}, .data_directory = directory / "data"};
    auto broker = BrokerProcess::start(options);
    ASSERT_NE(broker, nullptr);
    {
        PlainClient client(broker->port());
        ASSERT_EQ(client.create_topic("orders", 2, {{"partita.expansion.mode", "safe-offsets"}}).error, ErrorCode::none);
        ASSERT_EQ(client.commit("kept", "orders", 0, 0), ErrorCode::none);
        ASSERT_EQ(client.commit("deleted", "orders", 0, 0), ErrorCode::none);
        ASSERT_EQ(client.expand_topic("orders", 4), ErrorCode::none);
        ASSERT_EQ(client.committed("deleted", "orders", 3), 0);
        std::array<std::string_view, 1> names{"deleted"};
        const auto* answer = client.wire().call<DeleteGroupsResponse>(2, DeleteGroupsRequest{.groups_names = names});
        ASSERT_NE(answer, nullptr);
        ASSERT_EQ(answer->results[0].error_code, ErrorCode::none);
        ASSERT_EQ(client.committed("deleted", "orders", 3), -1);
    }
    // The destructor kills the broker.
    broker.reset();
    broker = BrokerProcess::start(options);
    ASSERT_NE(broker, nullptr);
    PlainClient client(broker->port());
    EXPECT_EQ(client.committed("kept", "orders", 3), 0);
    EXPECT_EQ(client.committed("deleted", "orders", 3), -1);
}

}  // namespace
}  // namespace partita::test
