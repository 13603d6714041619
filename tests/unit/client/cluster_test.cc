// Tests the client against brokers that answer late, wrongly, elsewhere or not at all.

#include "broker/client/cluster.h"

#include <gmock/gmock.h>

#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/16_list_groups.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/42_delete_groups.h"
#include "tests/unit/client/fake_network.h"

namespace partita::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Settings settings_for(const std::string& bootstrap) {
    Settings settings;
    settings.bootstrap = *parse_bootstrap(bootstrap);
    return settings;
}

/// Sends the tests' request to any broker; its answer has one group.
Result<Reply<ListGroupsResponse>> ask_anybody(Cluster& cluster) {
    return cluster.ask<ListGroupsResponse>(Route::any(), {.name = "listGroups"}, ListGroupsRequest{});
}
bool answer_one_group(const Asked& asked, ByteBuffer& out) {
    ListGroupsResponse::ListedGroup group{.group_id = "g"};
    FakeNetwork::reply(asked, ListGroupsResponse{.groups = Array<ListGroupsResponse::ListedGroup>(&group, 1)}, out);
    return true;
}

TEST(Cluster, AReplyInPiecesOfOneByteIsWhole) {
    FakeNetwork network(answer_one_group);
    network.piece_bytes = 1;
    Cluster cluster(network, settings_for("a:1"));
    const auto reply = ask_anybody(cluster);
    ASSERT_TRUE(reply) << reply.error().message;
    ASSERT_EQ((*reply)->groups.count(), 1u);
    EXPECT_EQ((*reply)->groups[0].group_id, "g");
    EXPECT_EQ(reply->version(), 5);
}

TEST(Cluster, AnAbsurdSizeIsNotRead) {
    for (const std::int32_t size : {-1, 0, 3, Connection::kReplyBytesMax + 1, 0x7fffffff}) {
        FakeNetwork network(answer_one_group);
        network.stated_size = size;
        Cluster cluster(network, settings_for("a:1"));
        const auto reply = ask_anybody(cluster);
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().kind, Failure::Kind::malformed);
        EXPECT_EQ(reply.error().message,
                  "the program at a:1 is not a Kafka broker: a reply of " + std::to_string(size) + " bytes");
    }
}

TEST(Cluster, AReplyToAnotherRequestIsRefused) {
    FakeNetwork network([](const Asked& asked, ByteBuffer& out) {
        Asked other{asked.api, asked.version, asked.correlation_id + 1, asked.request, asked.at};
        return answer_one_group(other, out);
    });
    Cluster cluster(network, settings_for("a:1"));
    const auto reply = ask_anybody(cluster);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, Failure::Kind::malformed);
    EXPECT_THAT(reply.error().message, HasSubstr("another request"));
}

TEST(Cluster, AReplyThatDoesNotDecodeIsRefused) {
    FakeNetwork network([](const Asked& asked, ByteBuffer& out) {
        append_response_header(asked.api, asked.version, asked.correlation_id, out);
        out.append_big_endian(std::int32_t{0});
        return true;
    });
    Cluster cluster(network, settings_for("a:1"));
    const auto reply = ask_anybody(cluster);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, Failure::Kind::malformed);
}

TEST(Cluster, ABrokerThatGoesInBetweenIsAskedAgain) {
    int attempts = 0;
    FakeNetwork network([&](const Asked& asked, ByteBuffer& out) { return ++attempts > 2 && answer_one_group(asked, out); });
    Cluster cluster(network, settings_for("a:1"));
    EXPECT_TRUE(ask_anybody(cluster));
    EXPECT_EQ(attempts, 3);
    EXPECT_THAT(network.pauses, ElementsAre(100, 200));
}

TEST(Cluster, ABrokerThatEndsWithinItsAnswersIsGivenUpInTime) {
    FakeNetwork network(answer_one_group);
    network.ends_within_answers = true;
    Cluster cluster(network, settings_for("a:1"));
    const auto reply = ask_anybody(cluster);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, Failure::Kind::timed_out);
    EXPECT_THAT(reply.error().message, HasSubstr("Call(callName=listGroups, "));
    EXPECT_LE(network.still_clock.now_ms, 1'000 + 60'000);
    EXPECT_GE(network.still_clock.now_ms, 1'000 + 58'000);
}

TEST(Cluster, NobodyThereIsToldOnceAndGivenUpInKafkasWords) {
    FakeNetwork network(answer_one_group);
    network.unreachable = {{"a", 1}, {"b", 2}};
    Settings settings = settings_for("a:1,b:2");
    std::vector<std::string> told;
    settings.tell = [&](const std::string& line) { told.push_back(line); };
    Cluster cluster(network, std::move(settings));
    const auto reply = ask_anybody(cluster);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, Failure::Kind::unreachable);
    EXPECT_EQ(reply.error().message, "Timed out waiting for a node assignment. Call: listGroups");
    EXPECT_THAT(told, ElementsAre("a:1: Connection refused", "b:2: Connection refused"));
    EXPECT_LE(network.still_clock.now_ms, 1'000 + 60'000);
}

TEST(Cluster, NamesWithoutAnAddressAreATypingErrorWhichEndsAtOnce) {
    FakeNetwork network(answer_one_group);
    network.nameless = {{"a", 1}, {"b", 2}};
    Settings settings = settings_for("a:1,b:2");
    std::vector<std::string> told;
    settings.tell = [&](const std::string& line) { told.push_back(line); };
    Cluster cluster(network, std::move(settings));
    const auto reply = ask_anybody(cluster);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, Failure::Kind::bad_setting);
    EXPECT_EQ(reply.error().message, "b:2: Name or service not known");
    EXPECT_THAT(told, ElementsAre());
    EXPECT_EQ(network.connects.size(), 2u);
}

TEST(Cluster, ANameWithoutAnAddressBesideABrokerThatIsAwayIsToldAndTriedAgain) {
    FakeNetwork network(answer_one_group);
    network.nameless = {{"a", 1}};
    network.unreachable = {{"b", 2}};
    Settings settings = settings_for("a:1,b:2");
    std::vector<std::string> told;
    settings.tell = [&](const std::string& line) { told.push_back(line); };
    Cluster cluster(network, std::move(settings));
    EXPECT_EQ(ask_anybody(cluster).error().message, "Timed out waiting for a node assignment. Call: listGroups");
    EXPECT_THAT(told, ElementsAre("b:2: Connection refused", "a:1: Name or service not known"));
}

TEST(Cluster, ANameThatLosesItsAddressIsTriedAgain) {
    FakeNetwork network([](const Asked&, ByteBuffer&) { return false; });
    Cluster cluster(network, settings_for("a:1"));
    // The broker answers the first question of a connection and disappears, together with its name.
    network.after_connect = [&] { network.nameless = {{"a", 1}}; };
    const auto reply = ask_anybody(cluster);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, Failure::Kind::timed_out);
    EXPECT_GT(network.connects.size(), 3u);
}

TEST(Cluster, TheNextBootstrapAddressIsTaken) {
    FakeNetwork network(answer_one_group);
    network.unreachable = {{"a", 1}};
    Cluster cluster(network, settings_for("a:1,b:2"));
    EXPECT_TRUE(ask_anybody(cluster));
    EXPECT_THAT(network.requests, ElementsAre("ApiVersions@b", "ListGroups@b"));
}

TEST(Cluster, AnOldBrokerIsAskedInItsOwnVersions) {
    FakeNetwork network(answer_one_group);
    network.api_versions_max = 2;
    network.versions[ApiKey::list_groups] = {0, 1};
    Cluster cluster(network, settings_for("a:1"));
    const auto reply = ask_anybody(cluster);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->version(), 1);
    EXPECT_THAT(network.requests, ElementsAre("ApiVersions@a", "ApiVersions@a", "ListGroups@a"));
}

TEST(Cluster, WhatABrokerDoesNotHaveIsSaidAtOnce) {
    FakeNetwork network(answer_one_group);
    network.versions[ApiKey::list_groups] = kNoVersions;
    Cluster cluster(network, settings_for("a:1"));
    const auto reply = ask_anybody(cluster);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, Failure::Kind::unsupported);
    EXPECT_EQ(reply.error().message, "The broker does not support ListGroups");
    EXPECT_TRUE(network.pauses.empty());
}

TEST(Cluster, AFieldThatAVersionDoesNotHaveIsNotDropped) {
    FakeNetwork network(answer_one_group);
    network.versions[ApiKey::list_groups] = {0, 3};
    Cluster cluster(network, settings_for("a:1"));
    std::string_view state = "Stable";
    ListGroupsRequest request{.states_filter = Array<std::string_view>(&state, 1)};
    const auto reply = cluster.ask<ListGroupsResponse>(Route::any(), {.name = "listGroups"}, request);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, Failure::Kind::unsupported);
}

TEST(Cluster, AnotherControllerIsLookedFor) {
    FakeNetwork* peer = nullptr;
    FakeNetwork network([&](const Asked& asked, ByteBuffer& out) {
        CreateTopicsResponse::CreatableTopicResult topic{.name = "t"};
        topic.error_code = asked.at.host == "b" ? ErrorCode::none : ErrorCode::not_controller;
        peer->controller_id = 2;
        FakeNetwork::reply(asked, CreateTopicsResponse{.topics = Array<CreateTopicsResponse::CreatableTopicResult>(&topic, 1)},
                           out);
        return true;
    });
    peer = &network;
    network.brokers.push_back({.node_id = 2, .host = "b", .port = 2});
    Cluster cluster(network, settings_for("a:1"));
    const auto reply = cluster.ask<CreateTopicsResponse>(
        Route::controller(), {.name = "createTopics"}, [](std::int16_t) { return CreateTopicsRequest{}; },
        [](const CreateTopicsResponse& response) { return response.topics[0].error_code; });
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ((*reply)->topics[0].error_code, ErrorCode::none);
    EXPECT_EQ(network.requests.back(), "CreateTopics@b");
}

TEST(Cluster, ACoordinatorIsLookedForAgainWhenItMoved) {
    std::string coordinator = "a";
    FakeNetwork network([&](const Asked& asked, ByteBuffer& out) {
        if (asked.api.key == ApiKey::find_coordinator) {
            FindCoordinatorResponse::Coordinator found{.key = "g", .host = coordinator, .port = 1};
            FakeNetwork::reply(asked, FindCoordinatorResponse{.coordinators = {&found, 1}}, out);
            return true;
        }
        DeleteGroupsResponse::DeletableGroupResult result{.group_id = "g"};
        result.error_code = asked.at.host == "b" ? ErrorCode::none : ErrorCode::not_coordinator;
        coordinator = "b";
        FakeNetwork::reply(asked, DeleteGroupsResponse{.results = {&result, 1}}, out);
        return true;
    });
    Cluster cluster(network, settings_for("a:1"));
    const auto reply = cluster.ask<DeleteGroupsResponse>(
        Route::coordinator(CoordinatorOf::group, "g"), {.name = "deleteConsumerGroups"},
        [](std::int16_t) { return DeleteGroupsRequest{}; },
        [](const DeleteGroupsResponse& response) { return response.results[0].error_code; });
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(network.requests.back(), "DeleteGroups@b");
}

TEST(Cluster, MembershipIsAskedOnce) {
    FakeNetwork network(answer_one_group);
    network.brokers.push_back({.node_id = 0, .host = "b", .port = 2});
    Cluster cluster(network, settings_for("a:1"));
    for (int i = 0; i < 2; ++i) {
        const auto membership = cluster.membership("describeCluster");
        ASSERT_TRUE(membership);
        EXPECT_EQ((*membership)->cluster_id, "cluster");
        ASSERT_EQ((*membership)->nodes.size(), 2u);
        EXPECT_EQ((*membership)->nodes[0].id, 0);
    }
    EXPECT_THAT(network.requests, ElementsAre("ApiVersions@a", "Metadata@a"));
}

TEST(Cluster, SilenceEndsWithTheRequestTimeout) {
    FakeNetwork network([](const Asked&, ByteBuffer&) { return true; });
    network.stated_size = 100;
    network.versions = {};
    Settings settings = settings_for("a:1");
    settings.request_timeout_ms = 40;
    settings.default_api_timeout_ms = 50;
    Cluster cluster(network, std::move(settings));
    const auto reply = ask_anybody(cluster);
    ASSERT_FALSE(reply);
    EXPECT_TRUE(network.still_clock.now_ms <= 1'050) << network.still_clock.now_ms;
}

/// A network whose listeners close the connection when bytes arrive.
class HangingUp final : public Network {
  public:
    std::expected<std::unique_ptr<Transport>, TransportFailure> connect(const Endpoint&, Instant) override {
        struct Pipe final : Transport {
            std::expected<void, TransportFailure> send(Bytes, Instant) override { return {}; }
            std::expected<std::size_t, TransportFailure> receive(MutableBytes, Instant) override {
                return std::unexpected(TransportFailure{TransportFailure::Kind::closed, "Connection reset by peer"});
            }
        };
        return std::make_unique<Pipe>();
    }
    Clock& clock() override { return clock_; }
    void pause(std::int64_t duration_ms) override { clock_.now_ms += duration_ms; }

  private:
    StillClock clock_;
};

TEST(ClusterTrouble, AServerThatHangsUpAtTheFirstRequestMaySpeakTls) {
    HangingUp network;
    Settings settings;
    settings.bootstrap = *parse_bootstrap("a:1");
    std::vector<std::string> told;
    settings.tell = [&](const std::string& line) { told.push_back(line); };
    Cluster cluster(network, settings);
    ASSERT_FALSE(cluster.membership("describeCluster").has_value());
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told.front(), "a:1: Connection reset by peer; for a listener with TLS, set security.protocol=SSL or SASL_SSL");
}

}  // namespace
}  // namespace partita::client
