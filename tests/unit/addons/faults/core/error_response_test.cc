#include "broker/addons/faults/core/error_response.h"

#include <gmock/gmock.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "protocol/codec.h"
#include "protocol/message_json.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/15_describe_groups.h"
#include "tests/unit/protocol/message_generator.h"

namespace partita::faults {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string no_bytes(Bytes) { return ""; }

class ErrorResponseTest : public ::testing::Test {
  protected:
    template <class Request>
    std::string json(ApiKey key, std::int16_t version, const Request& request, ErrorCode error) {
        const ApiInfo& api = *find_api(key);
        const void* response = error_response(api, version, &request, error, arena_);
        return to_json(*api.response, response, version, no_bytes);
    }

    Arena arena_;
};

TEST_F(ErrorResponseTest, EachPartitionOfAProduceHasTheError) {
    std::array<ProduceRequest::PartitionProduceData, 2> partitions{};
    partitions[0].index = {3};
    partitions[1].index = {5};
    std::array<ProduceRequest::TopicProduceData, 1> topics{};
    topics[0].name = "orders";
    topics[0].partition_data = partitions;
    ProduceRequest request;
    request.topic_data = topics;
    EXPECT_EQ(
        json(ApiKey::produce, 3, request, ErrorCode::not_leader_or_follower),
        R"({"responses":[{"name":"orders","partitionResponses":[{"index":3,"errorCode":6,"baseOffset":-1,"logAppendTimeMs":-1},)"
        R"({"index":5,"errorCode":6,"baseOffset":-1,"logAppendTimeMs":-1}]}],"throttleTimeMs":0})");
}

TEST_F(ErrorResponseTest, AFetchHasItInItsPartitionsAndASessionErrorAbove) {
    std::array<FetchRequest::FetchPartition, 1> partitions{};
    partitions[0].partition = {3};
    std::array<FetchRequest::FetchTopic, 1> topics{};
    topics[0].topic = "orders";
    topics[0].partitions = partitions;
    FetchRequest request;
    request.topics = topics;
    const std::string of_partition = json(ApiKey::fetch, 12, request, ErrorCode::offset_out_of_range);
    EXPECT_THAT(
        of_partition,
        HasSubstr(R"("errorCode":0,"sessionId":0,"responses":[{"topic":"orders","partitions":[{"partitionIndex":3,"errorCode":1,)"
                  R"("highWatermark":-1,"lastStableOffset":-1,"logStartOffset":-1,)"));
    const std::string of_session = json(ApiKey::fetch, 12, request, ErrorCode::fetch_session_id_not_found);
    EXPECT_THAT(of_session, HasSubstr(R"("errorCode":70,"sessionId":0,"responses":[])"));
    EXPECT_THAT(json(ApiKey::fetch, 12, FetchRequest(), ErrorCode::offset_out_of_range),
                HasSubstr(R"("errorCode":1,"sessionId":0)"))
        << "an incremental fetch names no partition";
}

TEST_F(ErrorResponseTest, MetadataHasItForEachTopicAndNamesNoBroker) {
    std::array<MetadataRequest::Topic, 1> topics{};
    topics[0].name = "orders";
    MetadataRequest request;
    request.topics = topics;
    const std::string text = json(ApiKey::metadata, 9, request, ErrorCode::leader_not_available);
    EXPECT_THAT(text, HasSubstr(R"("brokers":[])"));
    EXPECT_THAT(text, HasSubstr(R"("topics":[{"errorCode":5,"name":"orders")"));
}

TEST_F(ErrorResponseTest, GroupsHaveIt) {
    EXPECT_THAT(json(ApiKey::join_group, 7, JoinGroupRequest(), ErrorCode::coordinator_not_available),
                HasSubstr(R"("errorCode":15)"));
    std::array<std::string_view, 2> groups{"billing", "audit"};
    DescribeGroupsRequest describe;
    describe.groups = groups;
    const std::string described = json(ApiKey::describe_groups, 5, describe, ErrorCode::not_coordinator);
    EXPECT_THAT(described, HasSubstr(R"({"errorCode":16,"groupId":"billing")"));
    EXPECT_THAT(described, HasSubstr(R"({"errorCode":16,"groupId":"audit")"));
    std::array<std::string_view, 1> keys{"billing"};
    FindCoordinatorRequest find;
    find.coordinator_keys = keys;
    EXPECT_THAT(json(ApiKey::find_coordinator, 4, find, ErrorCode::coordinator_not_available),
                HasSubstr(R"("coordinators":[{"key":"billing","nodeId":-1,"host":"","port":-1,"errorCode":15)"));
}

TEST_F(ErrorResponseTest, CommitsAndTheirLookUpsHaveItWhereClientsLook) {
    std::array<OffsetCommitRequest::Partition, 1> committed{};
    committed[0].partition_index = {3};
    std::array<OffsetCommitRequest::Topic, 1> topics{};
    topics[0].name = "orders";
    topics[0].partitions = committed;
    OffsetCommitRequest commit;
    commit.topics = topics;
    EXPECT_THAT(json(ApiKey::offset_commit, 8, commit, ErrorCode::rebalance_in_progress),
                HasSubstr(R"("topics":[{"name":"orders","partitions":[{"partitionIndex":3,"errorCode":27}]}])"));
    std::array<OffsetFetchRequest::Group, 1> groups{};
    groups[0].group_id = "billing";
    OffsetFetchRequest fetch;
    fetch.groups = groups;
    EXPECT_THAT(json(ApiKey::offset_fetch, 8, fetch, ErrorCode::not_coordinator),
                HasSubstr(R"("groups":[{"groupId":"billing","topics":[],"errorCode":16}])"));
}

// Requests of all kinds: the response can be sent, and it has the error.
TEST_F(ErrorResponseTest, EveryApiCanRefuseInEveryVersion) {
    std::set<std::string> without_room;
    for (const ApiInfo& api : all_apis()) {
        bool has_error = false;
        for (std::int16_t version = api.versions.first; version <= api.versions.last; ++version) {
            for (std::uint64_t seed = 1; seed <= 5; ++seed) {
                arena_.reset();
                testing::MessageGenerator generator(seed, arena_);
                void* request = arena_.allocate_unlimited(api.request->size, api.request->alignment);
                generator.generate(*api.request, version, request);
                const void* response = error_response(api, version, request, ErrorCode::policy_violation, arena_);
                ByteBuffer bytes;
                const auto size = encode(*api.response, response, version, bytes);
                ASSERT_TRUE(size) << api.name << " v" << version << ": " << to_string(size.error().failure) << " "
                                  << size.error().field;
                const std::string text = to_json(*api.response, response, version, no_bytes);
                has_error = has_error || text.find("rrorCode\":44") != std::string::npos;
            }
        }
        if (!has_error) {
            without_room.insert(std::string(api.name));
        }
    }
    EXPECT_THAT(without_room, ElementsAre());
}

}  // namespace
}  // namespace partita::faults
