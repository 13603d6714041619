// Tests what a client learns about groups from their coordinators.

#include "broker/client/groups.h"

#include <gmock/gmock.h>

#include "broker/client/classic_assignment.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/15_describe_groups.h"
#include "protocol/messages/69_consumer_group_describe.h"
#include "tests/unit/client/fake_network.h"

namespace partita::client {
namespace {

using ::testing::ElementsAre;

/// Broker 1 coordinates every group.
class GroupsTest : public ::testing::Test {
  protected:
    GroupsTest()
        : network_([this](const Asked& asked, ByteBuffer& out) {
              if (asked.api.key == ApiKey::find_coordinator) {
                  FindCoordinatorResponse::Coordinator coordinator{.node_id = 1, .host = "a", .port = 1};
                  FindCoordinatorResponse response{.node_id = 1, .host = "a", .port = 1};
                  if (asked.version >= 4) {
                      response = {.coordinators = {&coordinator, 1}};
                  }
                  FakeNetwork::reply(asked, response, out);
                  return true;
              }
              return answer_(asked, out);
          }) {}

    static Settings settings() {
        Settings settings;
        settings.bootstrap = *parse_bootstrap("a:1");
        return settings;
    }

    std::function<bool(const Asked&, ByteBuffer&)> answer_;
    FakeNetwork network_;
    Cluster cluster_{network_, settings()};
};

TEST_F(GroupsTest, ClassicMembersAreDescribedWithWhatTheyAskFor) {
    network_.versions[ApiKey::consumer_group_describe] = kNoVersions;
    const auto subscription = encode_subscription({.topics = {"t", "u"}, .owned = {}}, ClassicAssignor::range);
    const auto assignment = encode_assignment({{"t", 0}, {"t", 1}});
    answer_ = [&](const Asked& asked, ByteBuffer& out) {
        const auto garbage = as_bytes(std::string_view("x"));
        DescribeGroupsResponse::DescribedGroupMember members[] = {{.member_id = "m",
                                                                   .client_id = "c",
                                                                   .client_host = "/10.0.0.7",
                                                                   .member_metadata = subscription,
                                                                   .member_assignment = assignment},
                                                                  {.member_id = "n",
                                                                   .client_id = "d",
                                                                   .client_host = "/10.0.0.8",
                                                                   .member_metadata = garbage,
                                                                   .member_assignment = {}}};
        DescribeGroupsResponse::DescribedGroup group{.group_id = "g",
                                                     .group_state = "Stable",
                                                     .protocol_type = "consumer",
                                                     .protocol_data = "range",
                                                     .members = {members, 2}};
        FakeNetwork::reply(asked, DescribeGroupsResponse{.groups = {&group, 1}}, out);
        return true;
    };
    const auto described = describe_group(cluster_, "g");
    ASSERT_TRUE(described) << described.error().message;
    EXPECT_EQ(described->protocol_type + " " + described->assignor + " " + described->state, "consumer range Stable");
    ASSERT_EQ(described->members.size(), 2u);
    EXPECT_THAT(described->members[0].subscription, ElementsAre("t", "u"));
    EXPECT_THAT(described->members[0].assignment, ElementsAre(TopicPartition{"t", 0}, TopicPartition{"t", 1}));
    EXPECT_THAT(described->members[1].subscription, ElementsAre()) << "it says nothing that can be read";
}

TEST_F(GroupsTest, MembersOfTheNewProtocolAreDescribedWithWhatTheyAskFor) {
    answer_ = [&](const Asked& asked, ByteBuffer& out) {
        std::string_view names[] = {"t", "u"};
        ConsumerGroupDescribeResponse::Member member{
            .member_id = "m", .client_id = "c", .client_host = "h", .subscribed_topic_names = {names, 2}};
        ConsumerGroupDescribeResponse::DescribedGroup group{
            .group_id = "g", .group_state = "Stable", .assignor_name = "uniform", .members = {&member, 1}};
        FakeNetwork::reply(asked, ConsumerGroupDescribeResponse{.groups = {&group, 1}}, out);
        return true;
    };
    const auto described = describe_group(cluster_, "g");
    ASSERT_TRUE(described) << described.error().message;
    EXPECT_EQ(described->protocol_type + " " + described->assignor, "consumer uniform");
    EXPECT_THAT(described->members.at(0).subscription, ElementsAre("t", "u"));
}

/// Brokers of every age answer with commits of t-0 and u-0. `named` holds the topics of the request.
class CommitsTest : public GroupsTest {
  protected:
    CommitsTest() {
        answer_ = [this](const Asked& asked, ByteBuffer& out) {
            constexpr std::int16_t kHasGroups = 8;
            const auto& request = *static_cast<const OffsetFetchRequest*>(asked.request);
            named_.clear();
            if (asked.version < kHasGroups) {
                for (const auto& topic : request.topics) {
                    named_.emplace_back(topic.name);
                }
                OffsetFetchResponse::Partition partition{.committed_offset = 7};
                OffsetFetchResponse::Topic topics[] = {{.name = "t", .partitions = {&partition, 1}},
                                                       {.name = "u", .partitions = {&partition, 1}}};
                FakeNetwork::reply(asked, OffsetFetchResponse{.topics = {topics, 2}}, out);
                return true;
            }
            for (const auto& topic : request.groups[0].topics) {
                named_.emplace_back(topic.name);
            }
            OffsetFetchResponse::Partitions partition{.committed_offset = 7};
            OffsetFetchResponse::Topics topics[] = {{.name = "t", .partitions = {&partition, 1}},
                                                    {.name = "u", .partitions = {&partition, 1}}};
            OffsetFetchResponse::Group group{.group_id = "g", .topics = {topics, 2}};
            FakeNetwork::reply(asked, OffsetFetchResponse{.groups = {&group, 1}}, out);
            return true;
        };
    }

    std::vector<std::string> named_;
};

TEST_F(CommitsTest, AnOnlookerNamesItsPartitionsOnlyToBrokersThatCannotSayAll) {
    for (const std::int16_t version : {1, 2, 7, 8, 9}) {
        network_.versions[ApiKey::offset_fetch] = {1, version};
        Cluster cluster(network_, settings());
        const auto committed = committed_offsets(cluster, "g", {{"t", 0}});
        ASSERT_TRUE(committed) << version << committed.error().message;
        ASSERT_EQ(committed->size(), 1u) << version << ": those of u were not asked for";
        EXPECT_EQ(committed->begin()->second.offset, 7);
        EXPECT_EQ(named_.empty(), version > 1) << version;
    }
}

TEST_F(CommitsTest, AMemberNamesItsPartitions) {
    for (const std::int16_t version : {2, 7, 9}) {
        network_.versions[ApiKey::offset_fetch] = {1, version};
        Cluster cluster(network_, settings());
        ASSERT_TRUE(stable_offsets(cluster, "g", {{"t", 0}})) << version;
        EXPECT_THAT(named_, ElementsAre("t")) << version;
    }
}

}  // namespace
}  // namespace partita::client
