// Tests which errors a reply contains, found by the tables of the messages.

#include "protocol/found_errors.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <vector>

#include "protocol/message_line.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/15_describe_groups.h"
#include "protocol/messages/19_create_topics.h"

namespace partita {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(FoundErrors, AReplyWithoutAnErrorHasNone) {
    ProduceResponse response;
    std::array<ProduceResponse::PartitionProduceResponse, 2> partitions;
    ProduceResponse::TopicProduceResponse topic{.name = "orders", .partition_responses = partitions};
    response.responses = {&topic, 1};
    EXPECT_FALSE(has_error(*find_api(ApiKey::produce), &response, 9));
    EXPECT_EQ(find_errors(*find_api(ApiKey::produce), &response, 9).count, 0U);
}

TEST(FoundErrors, AnErrorIsToldWithWhatItIsAbout) {
    ProduceResponse response;
    std::array<ProduceResponse::PartitionProduceResponse, 2> partitions;
    partitions[0].index = 4;
    partitions[1].index = 7;
    partitions[1].error_code = ErrorCode::record_list_too_large;
    partitions[1].error_message = "it is too large";
    ProduceResponse::TopicProduceResponse topic{.name = "orders", .partition_responses = partitions};
    response.responses = {&topic, 1};
    ASSERT_TRUE(has_error(*find_api(ApiKey::produce), &response, 9));
    const FoundErrors found = find_errors(*find_api(ApiKey::produce), &response, 9);
    ASSERT_EQ(found.count, 1U);
    EXPECT_EQ(found.kept[0].code, ErrorCode::record_list_too_large);
    EXPECT_EQ(found.kept[0].message, "it is too large");
    EXPECT_THAT(found.kept[0].about, ElementsAre(Pair("Name", "orders"), Pair("Index", "7")));
}

TEST(FoundErrors, OfManyErrorsSomeAreKeptAndAllAreCounted) {
    std::vector<CreateTopicsResponse::CreatableTopicResult> topics(1000);
    for (auto& topic : topics) {
        topic = {.name = "t", .error_code = ErrorCode::topic_already_exists};
    }
    CreateTopicsResponse response{.topics = topics};
    const FoundErrors found = find_errors(*find_api(ApiKey::create_topics), &response, 7);
    EXPECT_EQ(found.count, 1000U);
    EXPECT_EQ(found.kept.size(), FoundErrors::kKeptMax);
}

TEST(FoundErrors, AnErrorOfTheWholeReplyIsFound) {
    JoinGroupResponse response;
    response.error_code = ErrorCode::member_id_required;
    response.member_id = "client-1";
    const FoundErrors found = find_errors(*find_api(ApiKey::join_group), &response, 9);
    ASSERT_EQ(found.count, 1U);
    EXPECT_EQ(found.kept[0].code, ErrorCode::member_id_required);
    EXPECT_THAT(found.kept[0].about, ::testing::Contains(Pair("MemberId", "client-1")));
}

TEST(FoundErrors, EveryApiCanBeSearched) {
    for (const ApiInfo& api : all_apis()) {
        std::vector<std::max_align_t> memory(api.response->size / sizeof(std::max_align_t) + 1);
        std::memcpy(memory.data(), api.response->defaults, api.response->size);
        EXPECT_EQ(has_error(api, memory.data(), api.versions.last), find_errors(api, memory.data(), api.versions.last).count > 0)
            << api.name;
    }
}

TEST(MessageLine, EndsSoonAfterItsLimitHoweverLargeTheMessageIs) {
    std::vector<std::string_view> groups(100'000, "a-group");
    const DescribeGroupsRequest request{.groups = groups};
    const std::string line = to_short_line(DescribeGroupsRequest::schema, &request, 5, 100);
    EXPECT_TRUE(line.starts_with("{Groups: [\"a-group\", \"a-group\"")) << line;
    EXPECT_LT(line.size(), 150U);
    EXPECT_NE(line.find("..."), std::string::npos);
}

}  // namespace
}  // namespace partita
