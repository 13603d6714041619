// Tests requests that name the same thing very often: the reply must not become a multiple of the data.

#include "broker/handlers/repeats.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/15_describe_groups.h"
#include "protocol/messages/16_list_groups.h"
#include "protocol/messages/32_describe_configs.h"
#include "protocol/messages/69_consumer_group_describe.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"

namespace partita::handlers {
namespace {

constexpr std::size_t kNamed = 200;
constexpr std::size_t kAnswered = 1 + Repeats<std::string_view>::kAnsweredMax;

template <class Item>
Array<Item> all_of(std::vector<Item>& items) {
    return Array<Item>(items.data(), items.size());
}

TEST(RepeatsOfARequest, AreAnsweredUntilSoManyOfAllNamesTogetherWere) {
    Repeats<std::string_view> repeats;
    EXPECT_TRUE(repeats.is_answered("a"));
    for (std::size_t count = 0; count < Repeats<std::string_view>::kAnsweredMax; ++count) {
        EXPECT_TRUE(repeats.is_answered("a"));
    }
    EXPECT_FALSE(repeats.is_answered("a"));
    EXPECT_TRUE(repeats.is_answered("b")) << "for the first time";
    EXPECT_FALSE(repeats.is_answered("b"));
}

class RepliesToRepeats : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = test::InProcessBroker::start({.data_directory = directory_ / "data"});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<test::WireClient>(broker_->port());
    }
    void TearDown() override {
        client_.reset();
        EXPECT_TRUE(broker_->stop());
    }

    const test::TemporaryDirectory directory_;
    std::unique_ptr<test::InProcessBroker> broker_;
    std::unique_ptr<test::WireClient> client_;
};

TEST_F(RepliesToRepeats, AreNoMultipleOfASettingsPage) {
    constexpr std::int8_t kBroker = 4;
    constexpr std::int8_t kTopic = 2;
    std::vector<DescribeConfigsRequest::DescribeConfigsResource> resources(kNamed,
                                                                           {.resource_type = kBroker, .resource_name = "1"});
    for (auto& resource : resources) {
        resource.configuration_keys = nullptr;
    }
    resources.push_back({.resource_type = kTopic, .resource_name = "1"});
    const auto* reply = client_->call<DescribeConfigsResponse>(4, DescribeConfigsRequest{.resources = all_of(resources)});
    ASSERT_NE(reply, nullptr);
    ASSERT_EQ(reply->results.count(), kAnswered + 1);
    EXPECT_EQ(reply->results[kAnswered].resource_type, kTopic) << "another resource of the same name";
}

TEST_F(RepliesToRepeats, AreNoMultipleOfAGroup) {
    std::vector<std::string_view> names(kNamed, "g");
    const auto* classic = client_->call<DescribeGroupsResponse>(5, DescribeGroupsRequest{.groups = all_of(names)});
    ASSERT_NE(classic, nullptr);
    EXPECT_EQ(classic->groups.count(), kAnswered);
    const auto* consumer =
        client_->call<ConsumerGroupDescribeResponse>(0, ConsumerGroupDescribeRequest{.group_ids = all_of(names)});
    ASSERT_NE(consumer, nullptr);
    EXPECT_EQ(consumer->groups.count(), kAnswered);
    std::vector<OffsetFetchRequest::Group> groups(kNamed, {.group_id = "g"});
    for (auto& group : groups) {
        group.topics = nullptr;
    }
    const auto* offsets = client_->call<OffsetFetchResponse>(8, OffsetFetchRequest{.groups = all_of(groups)});
    ASSERT_NE(offsets, nullptr);
    EXPECT_EQ(offsets->groups.count(), kAnswered);
}

}  // namespace
}  // namespace partita::handlers
