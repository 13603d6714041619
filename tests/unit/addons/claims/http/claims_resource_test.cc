// Claims and checkpoints over HTTP, in a whole broker with rules in force.

#include "tests/unit/http/resources_fixture.h"

namespace partita::http {
namespace {

TEST_F(NeedfulResources, OfClaimsAreThoseOfTheGroup) {
    const NeedfulRequest kAsked[] = {
        {Method::get, "/v1/groups/g/claims", access::kDescribeGroup, "g"},
        {Method::post, "/v1/groups/g/claims", access::kReadGroup, "g"},
        {Method::delete_, "/v1/groups/g/claims", access::kDeleteGroup, "g"},
        {Method::get, "/v1/groups/g/checkpoints", access::kDescribeGroup, "g"},
        {Method::post, "/v1/groups/g/checkpoints", access::kReadGroup, "g"},
    };
    expect_needs(kAsked);
}

TEST_F(Resources, ClaimsGoByTheTagInTheHeaderWhereThereIsOnePartition) {
    rules_.allows_all = true;
    constexpr std::string_view kOne = R"({"owner": "web-1", "claims": [{"topic": "t", "partition": 0}]})";
    const auto claim = [&](std::string_view body, std::string_view if_match) {
        auto exchange = std::make_shared<Recorder>(Method::post, "/v1/groups/g/claims");
        exchange->change_request().body = body;
        exchange->change_request().content_type = "application/json";
        exchange->change_request().if_match = if_match;
        return answered(exchange, "/v1/groups/g/claims");
    };
    const auto made = claim(kOne, "");
    ASSERT_EQ(made->status, Status::ok) << made->body;
    const std::string tag = made->headers.at(0).value;
    EXPECT_EQ(made->headers.at(0).name, "ETag");
    const auto renewed = claim(kOne, tag);
    EXPECT_EQ(renewed->status, Status::ok) << renewed->body;
    EXPECT_NE(renewed->headers.at(0).value, tag);
    const auto stale = claim(kOne, tag);
    EXPECT_EQ(stale->status, Status::precondition_failed);
    EXPECT_EQ(json::parse(stale->body)["refused"][0]["reason"], "stale_tag");
    EXPECT_EQ(stale->headers.at(0).value, renewed->headers.at(0).value);
    EXPECT_EQ(claim(kOne, "\"0" + renewed->headers.at(0).value.substr(1))->status, Status::precondition_failed);
    EXPECT_EQ(claim(kOne, "17")->status, Status::bad_request);
    EXPECT_EQ(claim(R"({"owner": "w", "claims": [{"topic": "t", "partition": 0, "tag": "1"}]})", tag)->status,
              Status::bad_request);
}

TEST_F(Resources, ClaimsNeedTheTopicToo) {
    rules_.allows_all = false;
    rules_.allowed = access::kReadGroup;
    rules_.allowed_name = "g";
    // The answer is the same for an unknown topic: the broker does not reveal whether the topic exists.
    for (const std::string_view topic : {"t", "no"}) {
        const auto refused = change("/v1/groups/g/claims",
                                    R"({"owner": "w", "claims": [{"partition": 0, "topic": ")" + std::string(topic) + R"("}]})");
        EXPECT_EQ(refused->status, Status::forbidden);
        EXPECT_EQ(refused->body, "{\"error\":\"User:ANONYMOUS lacks READ TOPIC on " + std::string(topic) + "\"}\n");
    }
}

}  // namespace
}  // namespace partita::http
