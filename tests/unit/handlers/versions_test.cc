// Tests what handlers decide by the version of a request, and how they put errors on the wire.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "broker/handlers/group_replies.h"
#include "broker/logs/published_topics.h"
#include "protocol/codec.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/02_list_offsets.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/14_sync_group.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/20_delete_topics.h"
#include "protocol/request_header.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

constexpr TopicId kNoSuchId{{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}};

// Coordinators' later replies are encoded from a result alone.

template <class Response, class Request>
Response decoded(const runtime::Reply& reply, std::int16_t version, Arena& arena) {
    constexpr std::size_t kSizeBytes = 4;
    const Bytes frame = Bytes(reply.bytes.bytes()).subspan(kSizeBytes);
    const auto header = parse_response_header(api_of<Request>(), version, frame);
    EXPECT_TRUE(header.has_value());
    const auto response = decode<Response>(frame.subspan(header->size), version, arena);
    EXPECT_TRUE(response.has_value());
    return *response;
}

template <class Request>
runtime::KafkaCall pending(std::int16_t version) {
    return {.api = &api_of<Request>(), .api_version = version, .correlation_id = 1};
}

TEST(JoinReplies, AProtocolThatIsNotChosenIsNullWhereThatCanBeSaid) {
    const groups::JoinResult refused{.error = ErrorCode::inconsistent_group_protocol};
    for (const std::int16_t version : {2, 5, 6, 7, 9}) {
        Arena arena;
        const auto response = decoded<JoinGroupResponse, JoinGroupRequest>(
            handlers::encode_join_reply(pending<JoinGroupRequest>(version), refused), version, arena);
        EXPECT_EQ(response.error_code, ErrorCode::inconsistent_group_protocol);
        EXPECT_EQ(response.protocol_name, version < 7 ? std::optional<std::string_view>("") : std::nullopt) << version;
    }
}

TEST(JoinReplies, StaticMembersAreNamedFromTheVersionThatKnowsThem) {
    groups::JoinResult joined{.error = ErrorCode::none, .protocol_name = "range", .leader = "m", .member_id = "m"};
    joined.skip_assignment = true;
    joined.members.push_back({.member_id = "m", .group_instance_id = "i"});
    for (const std::int16_t version : {4, 5, 8, 9}) {
        Arena arena;
        const auto response = decoded<JoinGroupResponse, JoinGroupRequest>(
            handlers::encode_join_reply(pending<JoinGroupRequest>(version), joined), version, arena);
        ASSERT_EQ(response.members.count(), 1u);
        EXPECT_EQ(response.members[0].group_instance_id.has_value(), version >= 5) << version;
        EXPECT_EQ(response.skip_assignment, version >= 9) << version;
    }
}

TEST(SyncReplies, TheProtocolIsToldFromVersionFiveOn) {
    const groups::SyncResult synced{.error = ErrorCode::none, .protocol_type = "consumer", .protocol_name = "range"};
    for (const std::int16_t version : {4, 5}) {
        Arena arena;
        const auto response = decoded<SyncGroupResponse, SyncGroupRequest>(
            handlers::encode_sync_reply(pending<SyncGroupRequest>(version), synced), version, arena);
        EXPECT_EQ(response.protocol_name.has_value(), version >= 5) << version;
    }
}

class Versions : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data"});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<WireClient>(broker_->port());
    }
    void TearDown() override {
        client_.reset();
        EXPECT_TRUE(broker_->stop());
    }
    template <class T>
    Array<T> one(T value) {
        return Array<T>(new (arena_.allocate_unlimited(sizeof(T), alignof(T))) T(value), 1);
    }
    template <class Response, class Request>
    const Response& ask(std::int16_t version, const Request& request) {
        const auto* reply = client_->call<Response>(version, request);
        if (reply == nullptr) {
            throw std::runtime_error(client_->failure());
        }
        return *reply;
    }

    TemporaryDirectory directory_;
    Arena arena_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<WireClient> client_;
};

TEST_F(Versions, AnUnknownTopicIsToldByTheErrorOfWhatNamesIt) {
    const auto records = [&](std::string_view name, const TopicId& id) {
        return ProduceRequest{.acks = 1,
                              .timeout_ms = 1000,
                              .topic_data = one(ProduceRequest::TopicProduceData{
                                  .name = name, .topic_id = id, .partition_data = one(ProduceRequest::PartitionProduceData{})})};
    };
    EXPECT_EQ(ask<ProduceResponse>(12, records("no", {})).responses[0].partition_responses[0].error_code,
              ErrorCode::unknown_topic_or_partition);
    EXPECT_EQ(ask<ProduceResponse>(13, records("", kNoSuchId)).responses[0].partition_responses[0].error_code,
              ErrorCode::unknown_topic_id);
    const auto fetch = [&](std::string_view name, const TopicId& id) {
        return FetchRequest{.session_epoch = -1,
                            .topics = one(FetchRequest::FetchTopic{
                                .topic = name, .topic_id = id, .partitions = one(FetchRequest::FetchPartition{})})};
    };
    EXPECT_EQ(ask<FetchResponse>(12, fetch("no", {})).responses[0].partitions[0].error_code,
              ErrorCode::unknown_topic_or_partition);
    EXPECT_EQ(ask<FetchResponse>(13, fetch("", kNoSuchId)).responses[0].partitions[0].error_code, ErrorCode::unknown_topic_id);
}

TEST_F(Versions, WithoutACoordinatorOffsetFetchSaysSoWhereItsVersionHasAPlaceForIt) {
    const auto topics = one(OffsetFetchRequest::Topic{.name = "t", .partition_indexes = one(3)});
    const auto& first = ask<OffsetFetchResponse>(1, OffsetFetchRequest{.group_id = "g", .topics = topics});
    ASSERT_EQ(first.topics.count(), 1u);
    EXPECT_EQ(first.topics[0].partitions[0].partition_index, 3);
    EXPECT_EQ(first.topics[0].partitions[0].error_code, ErrorCode::not_coordinator);
    const auto& second = ask<OffsetFetchResponse>(2, OffsetFetchRequest{.group_id = "g", .topics = topics});
    EXPECT_EQ(second.error_code, ErrorCode::not_coordinator);
    EXPECT_TRUE(second.topics.empty());
    const auto& eighth =
        ask<OffsetFetchResponse>(8, OffsetFetchRequest{.groups = one(OffsetFetchRequest::Group{.group_id = "g"})});
    ASSERT_EQ(eighth.groups.count(), 1u);
    EXPECT_EQ(eighth.groups[0].error_code, ErrorCode::not_coordinator);
}

TEST_F(Versions, ACoordinatorIsNamedOnceOrForEachKey) {
    const auto& single = ask<FindCoordinatorResponse>(3, FindCoordinatorRequest{.key = "g", .key_type = 0});
    EXPECT_EQ(single.error_code, ErrorCode::none);
    EXPECT_EQ(single.error_message, "NONE");
    EXPECT_EQ(single.port, broker_->port());
    const std::array<std::string_view, 2> keys{"g", "h"};
    const auto& several =
        ask<FindCoordinatorResponse>(4, FindCoordinatorRequest{.key_type = 0, .coordinator_keys = Array<std::string_view>(keys)});
    ASSERT_EQ(several.coordinators.count(), 2u);
    EXPECT_EQ(several.coordinators[1].key, "h");
    EXPECT_EQ(several.coordinators[1].port, broker_->port());
}

TEST_F(Versions, AKeyThatNobodyCoordinatesHasNoPlace) {
    const auto& old = ask<FindCoordinatorResponse>(3, FindCoordinatorRequest{.key = "x", .key_type = 9});
    EXPECT_EQ(old.error_code, ErrorCode::invalid_request);
    EXPECT_EQ(old.node_id, BrokerId{-1}.value);
    EXPECT_EQ(old.host, "");
    EXPECT_EQ(old.port, -1);
}

TEST_F(Versions, SpecialTimestampsAreKnownFromTheVersionThatBroughtThem) {
    ASSERT_TRUE(create_topic(*client_, "t", 1));
    const auto error_of = [&](std::int16_t version, std::int64_t timestamp) {
        const ListOffsetsRequest request{
            .replica_id = -1,
            .topics = one(ListOffsetsRequest::ListOffsetsTopic{
                .name = "t", .partitions = one(ListOffsetsRequest::ListOffsetsPartition{.timestamp = timestamp})})};
        return ask<ListOffsetsResponse>(version, request).topics[0].partitions[0].error_code;
    };
    // Timestamp, and the first version that knows it.
    for (const auto& [timestamp, first] : {std::pair{-3, 7}, {-4, 8}, {-5, 9}, {-6, 11}}) {
        const auto version = static_cast<std::int16_t>(first);
        EXPECT_EQ(error_of(static_cast<std::int16_t>(version - 1), timestamp), ErrorCode::unsupported_version) << timestamp;
        EXPECT_EQ(error_of(version, timestamp), ErrorCode::none) << timestamp;
    }
    EXPECT_EQ(error_of(11, -7), ErrorCode::unsupported_version);
}

TEST_F(Versions, ATopicThatIsMadeIsDescribedFromVersionFiveOn) {
    for (const std::int16_t version : {4, 5}) {
        const std::string name = "t" + std::to_string(version);
        const auto& made = ask<CreateTopicsResponse>(
            version, CreateTopicsRequest{.topics = one(CreateTopicsRequest::CreatableTopic{
                                             .name = name, .num_partitions = 3, .replication_factor = 1}),
                                         .timeout_ms = 30'000});
        ASSERT_EQ(made.topics[0].error_code, ErrorCode::none);
        EXPECT_EQ(made.topics[0].num_partitions, version >= 5 ? 3 : -1);
        EXPECT_EQ(!made.topics[0].configs.is_null() && !made.topics[0].configs.empty(), version >= 5);
    }
}

TEST_F(Versions, ADeletionSaysWhyItFailedFromVersionFiveOnAndTheIdFromSix) {
    ASSERT_TRUE(create_topic(*client_, "t", 1));
    const TopicId id = broker_->services().topics.table()->find("t")->topic->id;
    const auto& old =
        ask<DeleteTopicsResponse>(4, DeleteTopicsRequest{.topic_names = one(std::string_view("no")), .timeout_ms = 30'000});
    EXPECT_EQ(old.responses[0].error_code, ErrorCode::unknown_topic_or_partition);
    EXPECT_EQ(old.responses[0].error_message, std::nullopt);
    const auto& newer =
        ask<DeleteTopicsResponse>(5, DeleteTopicsRequest{.topic_names = one(std::string_view("no")), .timeout_ms = 30'000});
    EXPECT_TRUE(newer.responses[0].error_message.has_value());
    const auto& newest = ask<DeleteTopicsResponse>(
        6, DeleteTopicsRequest{.topics = one(DeleteTopicsRequest::DeleteTopicState{.name = "t"}), .timeout_ms = 30'000});
    EXPECT_EQ(newest.responses[0].error_code, ErrorCode::none);
    EXPECT_EQ(newest.responses[0].topic_id, id);
}

}  // namespace
}  // namespace partita::test
