#include "broker/addons/faults/core/request_names.h"

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/15_describe_groups.h"
#include "protocol/messages/75_describe_topic_partitions.h"

namespace partita::faults {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <class Request>
RequestNames names(const Request& request, std::int16_t version) {
    return names_in(Request::schema, version, &request);
}

std::vector<std::string> shown(const RequestNames& names) {
    std::vector<std::string> all;
    for (const RequestNames::Partition& each : names.partitions) {
        all.push_back(std::string(each.topic) + (each.partition ? "-" + std::to_string(*each.partition) : ""));
    }
    return all;
}

TEST(RequestNames, ProduceNamesPartitionsOfTopicsByNameOrId) {
    std::array<ProduceRequest::PartitionProduceData, 2> partitions{};
    partitions[0].index = {3};
    partitions[1].index = {5};
    std::array<ProduceRequest::TopicProduceData, 1> topics{};
    topics[0].name = "orders";
    topics[0].topic_id.bytes[0] = 7;
    topics[0].partition_data = partitions;
    ProduceRequest request;
    request.transactional_id = "payments";
    request.topic_data = topics;
    EXPECT_THAT(shown(names(request, 9)), ElementsAre("orders-3", "orders-5"));
    EXPECT_THAT(names(request, 9).groups, ElementsAre("payments"));
    const RequestNames by_id = names(request, 13);
    EXPECT_THAT(shown(by_id), ElementsAre("-3", "-5"));
    EXPECT_EQ(by_id.partitions.front().topic_id, topics[0].topic_id);
}

TEST(RequestNames, MetadataNamesTopics) {
    std::array<MetadataRequest::Topic, 2> topics{};
    topics[0].name = "orders";
    topics[1].name = "audit";
    MetadataRequest request;
    request.topics = topics;
    EXPECT_THAT(shown(names(request, 9)), ElementsAre("orders", "audit"));
}

TEST(RequestNames, CommitsNameTheirGroupAndPartitions) {
    std::array<OffsetCommitRequest::Partition, 1> partitions{};
    partitions[0].partition_index = {3};
    std::array<OffsetCommitRequest::Topic, 1> topics{};
    topics[0].name = "orders";
    topics[0].partitions = partitions;
    OffsetCommitRequest request;
    request.group_id = "billing";
    request.topics = topics;
    EXPECT_THAT(names(request, 8).groups, ElementsAre("billing"));
    EXPECT_THAT(shown(names(request, 8)), ElementsAre("orders-3"));
}

TEST(RequestNames, LookUpsOfCoordinatorsNameGroupsInEveryVersion) {
    FindCoordinatorRequest request;
    request.key = "billing";
    EXPECT_THAT(names(request, 3).groups, ElementsAre("billing"));
    std::array<std::string_view, 2> keys{"billing", "audit"};
    request.coordinator_keys = keys;
    EXPECT_THAT(names(request, 4).groups, ElementsAre("billing", "audit"));
    DescribeGroupsRequest describe;
    describe.groups = keys;
    EXPECT_THAT(names(describe, 5).groups, ElementsAre("billing", "audit"));
}

TEST(RequestNames, ARequestThatNamesNothingHasNone) {
    const RequestNames found = names(MetadataRequest(), 9);
    EXPECT_THAT(found.groups, IsEmpty());
    EXPECT_THAT(found.partitions, IsEmpty());
}

TEST(RequestNames, OnlyAnIncrementalFetchAndRequestsForAllTopicsNameThemIncompletely) {
    FetchRequest fetch;
    for (const auto& [epoch, is_incomplete] : {std::pair(-1, false), std::pair(0, false), std::pair(1, true)}) {
        fetch.session_epoch = epoch;
        EXPECT_EQ(names_incompletely(ApiKey::fetch, 12, &fetch), is_incomplete) << epoch;
    }
    MetadataRequest metadata;
    EXPECT_TRUE(names_incompletely(ApiKey::metadata, 0, &metadata)) << "version 0 has no null";
    EXPECT_FALSE(names_incompletely(ApiKey::metadata, 1, &metadata)) << "the client asks for brokers only";
    metadata.topics = nullptr;
    EXPECT_TRUE(names_incompletely(ApiKey::metadata, 1, &metadata));
    DescribeTopicPartitionsRequest describe;
    EXPECT_TRUE(names_incompletely(ApiKey::describe_topic_partitions, 0, &describe));
    std::array<DescribeTopicPartitionsRequest::TopicRequest, 1> topics{};
    describe.topics = topics;
    EXPECT_FALSE(names_incompletely(ApiKey::describe_topic_partitions, 0, &describe));
    EXPECT_FALSE(names_incompletely(ApiKey::produce, 9, nullptr));
}

TEST(RequestNames, AMetadataMayNameIds) {
    std::array<MetadataRequest::Topic, 1> topics{};
    MetadataRequest request;
    request.topics = topics;
    EXPECT_FALSE(names_ids(ApiKey::metadata, &request));
    topics[0].topic_id.bytes[0] = 1;
    EXPECT_TRUE(names_ids(ApiKey::metadata, &request));
    EXPECT_FALSE(names_ids(ApiKey::produce, nullptr));
}

}  // namespace
}  // namespace partita::faults
