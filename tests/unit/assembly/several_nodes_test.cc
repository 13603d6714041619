// Tests what clients learn from a broker that shows itself as three nodes.

#include <gmock/gmock.h>

#include <array>
#include <vector>

#include "protocol/messages/02_list_offsets.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/21_delete_records.h"
#include "protocol/messages/23_offset_for_leader_epoch.h"
#include "protocol/messages/60_describe_cluster.h"
#include "protocol/messages/61_describe_producers.h"
#include "protocol/messages/75_describe_topic_partitions.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/three_nodes.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using ::testing::ElementsAre;

struct ShownAt {
    std::int32_t id;
    std::string host;
    std::int32_t port;
    friend bool operator==(const ShownAt&, const ShownAt&) = default;
    friend void PrintTo(const ShownAt& node, std::ostream* out) { *out << node.id << " at " << node.host << ":" << node.port; }
};

class SeveralNodes : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data", .nodes = &plan_});
        ASSERT_NE(broker_, nullptr);
        client_.emplace(broker_->port());
        ASSERT_TRUE(create_topic(*client_, "t", 4));
    }
    void TearDown() override {
        client_.reset();
        if (broker_) {
            EXPECT_TRUE(broker_->stop());
        }
    }
    [[nodiscard]] ShownAt first() const { return {1, "127.0.0.1", broker_->port()}; }
    [[nodiscard]] static std::vector<std::int32_t> ids(const Array<std::int32_t>& nodes) { return {nodes.begin(), nodes.end()}; }

    /// The errors of the partitions in the reply to a request about the first topic.
    template <class Response, class Request>
    [[nodiscard]] std::vector<ErrorCode> errors(std::int16_t version, const Request& request) {
        std::vector<ErrorCode> errors;
        const auto* reply = client_->call<Response>(version, request);
        EXPECT_NE(reply, nullptr) << client_->failure();
        if (reply != nullptr && reply->topics.count() == 1) {
            for (const auto& partition : reply->topics[0].partitions) {
                errors.push_back(partition.error_code);
            }
        }
        return errors;
    }

    static inline const ShownAt kSecond{2, "127.0.0.1", 9102};
    static inline const ShownAt kThird{3, "127.0.0.1", 9103};
    ThreeNodes plan_;
    TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
    std::optional<WireClient> client_;
};

TEST_F(SeveralNodes, MetadataNamesAllAndTheLeaderOfEachPartition) {
    MetadataRequest::Topic topic{.name = "t"};
    const auto* reply = client_->call<MetadataResponse>(12, MetadataRequest{.topics = {&topic, 1}});
    ASSERT_NE(reply, nullptr);
    std::vector<ShownAt> brokers;
    for (const auto& broker : reply->brokers) {
        brokers.push_back({broker.node_id, std::string(broker.host), broker.port});
    }
    EXPECT_THAT(brokers, ElementsAre(first(), kSecond, kThird));
    EXPECT_EQ(reply->controller_id, 1);
    ASSERT_EQ(reply->topics.count(), 1U);
    std::vector<std::int32_t> leaders;
    for (const auto& partition : reply->topics[0].partitions) {
        leaders.push_back(partition.leader_id);
        EXPECT_THAT(ids(partition.replica_nodes), ElementsAre(partition.leader_id));
        EXPECT_THAT(ids(partition.isr_nodes), ElementsAre(partition.leader_id));
    }
    EXPECT_THAT(leaders, ElementsAre(1, 2, 3, 1));
}

TEST_F(SeveralNodes, DescribeTopicPartitionsNamesTheLeaderOfEachPartition) {
    DescribeTopicPartitionsRequest::TopicRequest topic{.name = "t"};
    const auto* reply = client_->call<DescribeTopicPartitionsResponse>(0, DescribeTopicPartitionsRequest{.topics = {&topic, 1}});
    ASSERT_NE(reply, nullptr);
    ASSERT_EQ(reply->topics.count(), 1U);
    std::vector<std::int32_t> leaders;
    for (const auto& partition : reply->topics[0].partitions) {
        leaders.push_back(partition.leader_id);
        EXPECT_THAT(ids(partition.replica_nodes), ElementsAre(partition.leader_id));
    }
    EXPECT_THAT(leaders, ElementsAre(1, 2, 3, 1));
}

TEST_F(SeveralNodes, FindCoordinatorNamesTheNodeOfTheKindAndItsAddress) {
    const auto find = [&](std::int8_t type) -> ShownAt {
        std::string_view key = "k";
        const FindCoordinatorRequest request{.key_type = type, .coordinator_keys = {&key, 1}};
        const auto* reply = client_->call<FindCoordinatorResponse>(4, request);
        if (reply == nullptr || reply->coordinators.count() != 1) {
            return {-2, client_->failure(), 0};
        }
        const auto& found = reply->coordinators[0];
        return {found.node_id, std::string(found.host), found.port};
    };
    EXPECT_EQ(find(0), kSecond);
    EXPECT_EQ(find(1), kThird);
    const auto* reply = client_->call<FindCoordinatorResponse>(3, FindCoordinatorRequest{.key = "k", .key_type = 0});
    ASSERT_NE(reply, nullptr);
    EXPECT_EQ((ShownAt{reply->node_id, std::string(reply->host), reply->port}), kSecond);
}

TEST_F(SeveralNodes, DescribeClusterNamesAll) {
    const auto* reply = client_->call<DescribeClusterResponse>(1, DescribeClusterRequest{.endpoint_type = 1});
    ASSERT_NE(reply, nullptr);
    std::vector<ShownAt> brokers;
    for (const auto& broker : reply->brokers) {
        brokers.push_back({broker.broker_id, std::string(broker.host), broker.port});
    }
    EXPECT_THAT(brokers, ElementsAre(first(), kSecond, kThird));
    EXPECT_EQ(reply->controller_id, 1);
}

/// The client asks the first node for a partition of each node, and for one that does not exist.
constexpr std::array kAskedPartitions{0, 1, 2, 3, 4};
const auto kOnlyTheFirstNodesAreServed =
    ElementsAre(ErrorCode::none, ErrorCode::not_leader_or_follower, ErrorCode::not_leader_or_follower, ErrorCode::none,
                ErrorCode::unknown_topic_or_partition);

TEST_F(SeveralNodes, ListOffsetsServesTheLeaderOnly) {
    std::vector<ListOffsetsRequest::ListOffsetsPartition> partitions;
    for (const std::int32_t index : kAskedPartitions) {
        partitions.push_back({.partition_index = index, .timestamp = -1});
    }
    ListOffsetsRequest::ListOffsetsTopic topic{.name = "t", .partitions = partitions};
    const ListOffsetsRequest request{.replica_id = -1, .topics = {&topic, 1}};
    EXPECT_THAT(errors<ListOffsetsResponse>(10, request), kOnlyTheFirstNodesAreServed);
    partitions[1].current_leader_epoch = 7;
    EXPECT_EQ(errors<ListOffsetsResponse>(10, request).at(1), ErrorCode::unknown_leader_epoch) << "the epoch counts first";
}

TEST_F(SeveralNodes, DeleteRecordsServesTheLeaderOnly) {
    std::vector<DeleteRecordsRequest::DeleteRecordsPartition> partitions;
    for (const std::int32_t index : kAskedPartitions) {
        partitions.push_back({.partition_index = index, .offset = 0});
    }
    DeleteRecordsRequest::DeleteRecordsTopic topic{.name = "t", .partitions = partitions};
    EXPECT_THAT(errors<DeleteRecordsResponse>(2, DeleteRecordsRequest{.topics = {&topic, 1}, .timeout_ms = 1000}),
                kOnlyTheFirstNodesAreServed);
}

TEST_F(SeveralNodes, OffsetForLeaderEpochServesTheLeaderOnly) {
    std::vector<OffsetForLeaderEpochRequest::OffsetForLeaderPartition> partitions;
    for (const std::int32_t index : kAskedPartitions) {
        partitions.push_back({.partition = index});
    }
    OffsetForLeaderEpochRequest::OffsetForLeaderTopic topic{.topic = "t", .partitions = partitions};
    EXPECT_THAT(errors<OffsetForLeaderEpochResponse>(4, OffsetForLeaderEpochRequest{.topics = {&topic, 1}}),
                kOnlyTheFirstNodesAreServed);
}

TEST_F(SeveralNodes, DescribeProducersServesTheLeaderOnly) {
    std::vector<std::int32_t> partitions(kAskedPartitions.begin(), kAskedPartitions.end());
    DescribeProducersRequest::TopicRequest topic{.name = "t", .partition_indexes = partitions};
    EXPECT_THAT(errors<DescribeProducersResponse>(0, DescribeProducersRequest{.topics = {&topic, 1}}),
                kOnlyTheFirstNodesAreServed);
}

}  // namespace
}  // namespace partita::test
