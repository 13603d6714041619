// A fetch that waits while topics change, in a whole broker.

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/access/authorizer.h"
#include "broker/handlers/services.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/growth/expansion_worker.h"
#include "broker/runtime/growth/expansions.h"
#include "protocol/messages/01_fetch.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using namespace std::chrono_literals;

/// Rules that allow everything, and let a test act between the topics of a request.
class EventfulRules final : public access::Rules {
  public:
    bool allows(const access::Requester&, access::Permission, std::optional<std::string_view> name) const override {
        if (name == "b" && before_b) {
            std::exchange(before_b, nullptr)();
        }
        return true;
    }

    /// Called once, by the thread that serves the request.
    mutable std::function<void()> before_b;
};

// The topics that a fetch found must outlive its turn, although another reactor publishes the next topics meanwhile.
TEST(WaitingFetch, KeepsTheTopicsThatItFoundWhenOneOfThemGrowsMeanwhile) {
    TemporaryDirectory directory;
    EventfulRules rules;
    const auto broker = InProcessBroker::start({.data_directory = directory / "data", .access_rules = &rules});
    ASSERT_NE(broker, nullptr);
    const runtime::Services& services = broker->services();
    std::array<std::unique_ptr<WireClient>, 3> clients;
    for (auto& client : clients) {
        client = std::make_unique<WireClient>(broker->port());
    }
    ASSERT_TRUE(create_topic(*clients[0], "a", 2));
    ASSERT_TRUE(create_topic(*clients[0], "b", 1));

    std::weak_ptr<const logs::TopicTable> found_in;
    std::promise<void> has_grown;
    rules.before_b = [&] {
        found_in = services.topics.table();
        runtime::ExpansionRequest wish;
        wish.wishes.push_back({"a", 4, std::nullopt});
        wish.received = services.clock.now().monotonic;
        wish.timeout_ms = 60'000;
        EXPECT_EQ(services.growth.expansions.expand(wish).reply.topics.front().error.code, ErrorCode::none);
        has_grown.set_value();
    };
    constexpr std::int16_t kByName = 12;
    std::array partitions{FetchRequest::FetchPartition{.partition = 0, .partition_max_bytes = 1 << 20}};
    std::vector<FetchRequest::FetchTopic> topics;
    for (const std::string_view name : {"a", "b"}) {
        topics.push_back({.topic = name, .partitions = Array<FetchRequest::FetchPartition>(partitions.data(), 1)});
    }
    const FetchRequest request{.max_wait_ms = 2'000'000'000, .min_bytes = 1, .topics = topics};
    ASSERT_TRUE(clients[1]->send(request_frame(kByName, request, 1)));
    ASSERT_EQ(has_grown.get_future().wait_for(WireClient::kPatience), std::future_status::ready);
    EXPECT_TRUE(clients[1]->is_silent_for(100ms)) << "there is nothing to read";
    // Every reactor gets the new topics, and drops the old ones.
    for (const auto& client : {clients[0].get(), clients[2].get()}) {
        ASSERT_TRUE(create_topic(*client, client == clients[0].get() ? "c" : "d", 1));
    }
    EXPECT_FALSE(found_in.expired());

    const std::array values{std::string("v")};
    EXPECT_EQ(produce(*clients[0], "a", 0, make_batch(values)), ErrorCode::none);
    const auto* response =
        static_cast<const FetchResponse*>(clients[1]->read_reply(*find_api(ApiKey::fetch), kByName, 1, WireClient::kPatience));
    ASSERT_NE(response, nullptr) << clients[1]->failure();
    ASSERT_EQ(response->responses.count(), 2u);
    EXPECT_EQ(response->responses[0].topic, "a");
    EXPECT_EQ(response->responses[0].partitions[0].high_watermark, 1);
    EXPECT_EQ(response->responses[1].topic, "b");
    EXPECT_TRUE(eventually([&] { return found_in.expired(); })) << "and not for longer";
    for (auto& client : clients) {
        client.reset();
    }
    EXPECT_TRUE(broker->stop());
}

}  // namespace
}  // namespace partita::test
