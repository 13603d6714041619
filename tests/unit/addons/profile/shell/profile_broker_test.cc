// Tests, byte by byte, what clients see of a whole broker with a profile, and that they see nothing of it without one.

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "broker/addons/profile/core/profile.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/registry.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/18_api_versions.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/29_describe_acls.h"
#include "protocol/messages/37_create_partitions.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/sasl_client.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using Offered = std::map<std::int16_t, Versions>;

const ApiVersionsRequest kAsk{.client_software_name = "test", .client_software_version = "1"};

Offered offered(const ApiVersionsResponse& response) {
    Offered found;
    for (const ApiVersionsResponse::ApiVersion& api : response.api_keys) {
        found[api.api_key] = {api.min_version, api.max_version};
    }
    return found;
}

/// A broker of a tier whose clients need not log in.
struct TierBroker {
    explicit TierBroker(const std::string& tier, std::vector<std::string> more = {}) {
        more.push_back("partita.profile=eventhubs");
        more.push_back("partita.profile.tier=" + tier);
        broker = InProcessBroker::start({.data_directory = directory.path(), .overrides = std::move(more)});
    }

    [[nodiscard]] ErrorCode create(WireClient& client, std::string_view topic, std::int32_t partitions) {
        const std::array topics{
            CreateTopicsRequest::CreatableTopic{.name = topic, .num_partitions = partitions, .replication_factor = 1}};
        const auto* response = client.call<CreateTopicsResponse>(6, CreateTopicsRequest{.topics = topics, .timeout_ms = 10'000});
        EXPECT_NE(response, nullptr) << client.failure();
        return response == nullptr ? ErrorCode::unknown_server_error : response->topics[0].error_code;
    }
    [[nodiscard]] ErrorCode produce(WireClient& client, std::string_view topic, Codec codec) {
        const std::vector<std::string> values{"value"};
        const std::vector<std::byte> batch = make_batch(values, codec);
        const std::array partitions{ProduceRequest::PartitionProduceData{.index = 0, .records = Records(Bytes(batch))}};
        const std::array topics{ProduceRequest::TopicProduceData{.name = topic, .partition_data = partitions}};
        const auto* response =
            client.call<ProduceResponse>(7, ProduceRequest{.acks = -1, .timeout_ms = 10'000, .topic_data = topics});
        EXPECT_NE(response, nullptr) << client.failure();
        return response == nullptr ? ErrorCode::unknown_server_error : response->responses[0].partition_responses[0].error_code;
    }
    [[nodiscard]] ErrorCode grow(WireClient& client, std::string_view topic, std::int32_t count) {
        const std::array topics{
            CreatePartitionsRequest::CreatePartitionsTopic{.name = topic, .count = count, .assignments = nullptr}};
        const auto* response =
            client.call<CreatePartitionsResponse>(1, CreatePartitionsRequest{.topics = topics, .timeout_ms = 10'000});
        EXPECT_NE(response, nullptr) << client.failure();
        return response == nullptr ? ErrorCode::unknown_server_error : response->results[0].error_code;
    }
    [[nodiscard]] WireClient client() const { return WireClient(broker->port()); }

    TemporaryDirectory directory;
    std::unique_ptr<InProcessBroker> broker;
};

TEST(WithoutAProfile, EveryServedApiIsAdvertisedAsKafkaDoes) {
    const TemporaryDirectory directory;
    const auto broker = InProcessBroker::start({.data_directory = directory.path()});
    ASSERT_NE(broker, nullptr);
    EXPECT_EQ(broker->services().extensions.offer, nullptr);
    EXPECT_TRUE(broker->services().authorizer.allows_everything());
    WireClient client(broker->port());
    const auto* response = client.call<ApiVersionsResponse>(4, kAsk);
    ASSERT_NE(response, nullptr) << client.failure();
    Offered expected;
    for (const handlers::ServedApi* served : handlers::served_apis()) {
        const std::int16_t first = served->key == ApiKey::produce ? kAdvertisedProduceMinVersion : served->api().versions.first;
        expected[static_cast<std::int16_t>(served->key)] = {first, served->api().latest_version(false)};
    }
    EXPECT_EQ(offered(*response), expected);
    EXPECT_FALSE(response->supported_features.empty());
}

TEST(WithAProfile, WhatItOffersIsAdvertisedAndNothingElse) {
    for (const std::string tier : {"standard", "dedicated"}) {
        TierBroker under(tier);
        ASSERT_NE(under.broker, nullptr);
        WireClient client = under.client();
        const auto* response = client.call<ApiVersionsResponse>(3, kAsk);
        ASSERT_NE(response, nullptr) << client.failure();
        const profile::Profile profile({.tier = *profile::parse_tier(tier)});
        Offered expected;
        for (const handlers::ServedApi* served : handlers::served_apis()) {
            if (const auto versions = profile.versions_of(served->key)) {
                expected[static_cast<std::int16_t>(served->key)] = *versions;
            }
        }
        EXPECT_EQ(offered(*response), expected);
        EXPECT_EQ(expected.at(0), (Versions{3, 7}));
        EXPECT_EQ(expected.contains(24), tier == "dedicated");
        EXPECT_TRUE(response->supported_features.empty());
        EXPECT_TRUE(response->finalized_features.empty());
    }
}

TEST(WithAProfile, ApiVersionsFourEndsTheConnection) {
    TierBroker under("standard");
    WireClient client = under.client();
    ASSERT_TRUE(client.send(request_frame(4, kAsk)));
    EXPECT_TRUE(client.is_closed_within());
}

TEST(WithAProfile, ApiVersionsFourMayBeAnsweredAsKafkaDoes) {
    TierBroker under("standard", {"partita.profile.newer.api.versions.enable=true"});
    WireClient client = under.client();
    ASSERT_TRUE(client.send(request_frame(4, kAsk)));
    const auto frame = client.receive();
    ASSERT_TRUE(frame);
    // Version 0: correlation id, error, and the range of ApiVersions alone.
    Arena arena;
    const auto response = decode<ApiVersionsResponse>(Bytes(*frame).subspan(4), 0, arena);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->error_code, ErrorCode::unsupported_version);
    EXPECT_EQ(offered(*response), (Offered{{18, {0, 3}}}));
}

TEST(WithAProfile, WhatIsNotOfferedEndsTheConnection) {
    TierBroker under("standard");
    WireClient acls = under.client();
    ASSERT_TRUE(
        acls.send(request_frame(3, DescribeAclsRequest{.resource_type_filter = 1, .pattern_type_filter = 1, .operation = 1})));
    EXPECT_TRUE(acls.is_closed_within());
    WireClient newer = under.client();
    ASSERT_TRUE(newer.send(request_frame(6, MetadataRequest{})));
    EXPECT_TRUE(newer.is_closed_within());
    WireClient offered = under.client();
    EXPECT_NE(offered.call<MetadataResponse>(5, MetadataRequest{}), nullptr) << offered.failure();
}

TEST(WithAProfile, ARequestBeyondTheCapEndsTheConnection) {
    TierBroker under("premium");
    const auto frame_of_size = [](std::size_t size) {
        std::vector<std::byte> content = request_frame(0, ApiVersionsRequest{});
        content.erase(content.begin(), content.begin() + 4);
        content.resize(size);
        return frame_of(content);
    };
    WireClient over = under.client();
    (void)over.send(frame_of_size(profile::kRequestBytesMax + 1));
    EXPECT_TRUE(over.is_closed_within());
}

TEST(WithAProfile, CodecsAreRefusedByTier) {
    for (const auto& [tier, gzip] :
         {std::pair{"standard", ErrorCode::unsupported_for_message_format}, {"premium", ErrorCode::none}}) {
        TierBroker under(tier);
        WireClient client = under.client();
        ASSERT_EQ(under.create(client, "orders", 1), ErrorCode::none);
        EXPECT_EQ(under.produce(client, "orders", Codec::none), ErrorCode::none);
        EXPECT_EQ(under.produce(client, "orders", Codec::gzip), gzip) << tier;
        for (const Codec codec : {Codec::snappy, Codec::lz4, Codec::zstd}) {
            EXPECT_EQ(under.produce(client, "orders", codec), ErrorCode::unsupported_for_message_format) << tier;
        }
    }
}

TEST(WithAProfile, TopicsAndPartitionsAreLimitedByTier) {
    TierBroker standard("standard");
    WireClient client = standard.client();
    EXPECT_EQ(standard.create(client, "wide", 33), ErrorCode::invalid_partitions);
    EXPECT_EQ(standard.create(client, "wide", 32), ErrorCode::none);
    EXPECT_EQ(standard.grow(client, "wide", 33), ErrorCode::policy_violation);
    for (int i = 1; i < 10; ++i) {
        EXPECT_EQ(standard.create(client, "t" + std::to_string(i), 1), ErrorCode::none);
    }
    EXPECT_EQ(standard.create(client, "one-more", 1), ErrorCode::policy_violation);

    TierBroker premium("premium");
    WireClient other = premium.client();
    ASSERT_EQ(premium.create(other, "orders", 4), ErrorCode::none);
    EXPECT_EQ(premium.grow(other, "orders", 100), ErrorCode::none);
    EXPECT_EQ(premium.grow(other, "orders", 101), ErrorCode::invalid_partitions);
    EXPECT_EQ(premium.create(other, "second", 100), ErrorCode::none);
    EXPECT_EQ(premium.create(other, "third", 1), ErrorCode::policy_violation);
}

TEST(WithAProfile, ATopicThatIsOneTooManyIsNotMadeByAskingForIt) {
    TierBroker under("standard");
    WireClient client = under.client();
    const auto ask_for = [&](std::string_view topic) {
        const std::array names{MetadataRequest::Topic{.name = topic}};
        const auto* metadata =
            client.call<MetadataResponse>(5, MetadataRequest{.topics = names, .allow_auto_topic_creation = true});
        return metadata == nullptr ? ErrorCode::unknown_server_error : metadata->topics[0].error_code;
    };
    for (int i = 0; i < 10; ++i) {
        (void)ask_for("t" + std::to_string(i));
    }
    EXPECT_EQ(ask_for("t9"), ErrorCode::none);
    EXPECT_NE(ask_for("one-more"), ErrorCode::none);
    EXPECT_NE(ask_for("one-more"), ErrorCode::none);
    EXPECT_EQ(ask_for("t0"), ErrorCode::none);
}

TEST(WithAProfile, TheBrokersOwnTopicsAreNotThere) {
    TierBroker under("standard");
    WireClient client = under.client();
    ASSERT_EQ(under.create(client, "orders", 1), ErrorCode::none);
    const auto* found = client.call<FindCoordinatorResponse>(3, FindCoordinatorRequest{.key = "billing", .key_type = 0});
    ASSERT_NE(found, nullptr) << client.failure();
    ASSERT_EQ(found->error_code, ErrorCode::none);
    const auto* all = client.call<MetadataResponse>(5, MetadataRequest{.topics = nullptr});
    ASSERT_NE(all, nullptr) << client.failure();
    ASSERT_EQ(all->topics.count(), 1u);
    EXPECT_EQ(all->topics[0].name, "orders");
    for (const std::string_view own : {"__consumer_offsets", "__transaction_state"}) {
        const std::array names{MetadataRequest::Topic{.name = own}};
        const auto* one = client.call<MetadataResponse>(5, MetadataRequest{.topics = names, .allow_auto_topic_creation = true});
        ASSERT_NE(one, nullptr) << client.failure();
        EXPECT_EQ(one->topics[0].error_code, ErrorCode::unknown_topic_or_partition) << own;
        EXPECT_FALSE(one->topics[0].is_internal) << own;
    }
}

TEST(WithAProfile, TheBasicTierLetsNobodyUseATopic) {
    TierBroker under("basic");
    WireClient client = under.client();
    EXPECT_EQ(under.create(client, "orders", 1), ErrorCode::topic_authorization_failed);
    EXPECT_EQ(under.produce(client, "orders", Codec::none), ErrorCode::topic_authorization_failed);
    const std::array names{MetadataRequest::Topic{.name = "orders"}};
    const auto* metadata = client.call<MetadataResponse>(5, MetadataRequest{.topics = names, .allow_auto_topic_creation = true});
    ASSERT_NE(metadata, nullptr) << client.failure();
    EXPECT_EQ(metadata->topics[0].error_code, ErrorCode::topic_authorization_failed);
}

TEST(WithAProfile, NoTransactionBeginsInTheStandardTier) {
    TierBroker under("standard");
    WireClient client = under.client();
    const auto* found = client.call<FindCoordinatorResponse>(3, FindCoordinatorRequest{.key = "payments", .key_type = 1});
    ASSERT_NE(found, nullptr) << client.failure();
    EXPECT_EQ(found->error_code, ErrorCode::invalid_request);
    EXPECT_EQ(found->error_message, profile::Profile({}).transactions_refusal());
    const auto* id = client.call<InitProducerIdResponse>(
        1, InitProducerIdRequest{.transactional_id = "payments", .transaction_timeout_ms = 1000});
    ASSERT_NE(id, nullptr) << client.failure();
    EXPECT_EQ(id->error_code, ErrorCode::invalid_request);
    // Idempotent producers are served.
    id = client.call<InitProducerIdResponse>(
        1, InitProducerIdRequest{.transactional_id = std::nullopt, .transaction_timeout_ms = 1000});
    ASSERT_NE(id, nullptr) << client.failure();
    EXPECT_EQ(id->error_code, ErrorCode::none);
}

TEST(WithAProfile, ATransactionHasACoordinatorInThePremiumTier) {
    TierBroker under("premium");
    WireClient client = under.client();
    const auto* found = client.call<FindCoordinatorResponse>(3, FindCoordinatorRequest{.key = "payments", .key_type = 1});
    ASSERT_NE(found, nullptr) << client.failure();
    EXPECT_EQ(found->error_code, ErrorCode::none);
}

TEST(WithAProfile, AGroupWithALongNameIsRefused) {
    TierBroker under("standard");
    WireClient client = under.client();
    const std::string good(profile::kGroupIdBytesMax, 'g');
    const std::string bad = good + "g";
    const auto find = [&](const std::string& group) {
        const auto* found = client.call<FindCoordinatorResponse>(3, FindCoordinatorRequest{.key = group, .key_type = 0});
        return found == nullptr ? ErrorCode::unknown_server_error : found->error_code;
    };
    EXPECT_EQ(find(good), ErrorCode::none);
    EXPECT_EQ(find(bad), ErrorCode::invalid_group_id);
    const std::array protocols{JoinGroupRequest::Protocol{.name = "range"}};
    const auto* joined = client.call<JoinGroupResponse>(7, JoinGroupRequest{.group_id = bad,
                                                                            .session_timeout_ms = 10'000,
                                                                            .rebalance_timeout_ms = 10'000,
                                                                            .protocol_type = "consumer",
                                                                            .protocols = protocols});
    ASSERT_NE(joined, nullptr) << client.failure();
    EXPECT_EQ(joined->error_code, ErrorCode::invalid_group_id);
    const std::array partitions{OffsetCommitRequest::Partition{.partition_index = 0, .committed_offset = 0}};
    const std::array topics{OffsetCommitRequest::Topic{.name = "orders", .partitions = partitions}};
    const auto* committed = client.call<OffsetCommitResponse>(8, OffsetCommitRequest{.group_id = bad, .topics = topics});
    ASSERT_NE(committed, nullptr) << client.failure();
    EXPECT_EQ(committed->topics[0].partitions[0].error_code, ErrorCode::invalid_group_id);
}

std::string connection_string(const std::string& key, const std::string& more = {}) {
    return "Endpoint=sb://127.0.0.1/;SharedAccessKeyName=Root;SharedAccessKey=" + key + more;
}

TEST(LoginToAProfile, IsByConnectionString) {
    const TemporaryDirectory directory;
    const auto broker = InProcessBroker::start(
        {.data_directory = directory.path(),
         .overrides = {"partita.profile=eventhubs", "partita.profile.access.keys=Root=c2VjcmV0=",
                       "security.inter.broker.protocol=SASL_PLAINTEXT", "connection.failed.authentication.delay.ms=0"},
         .listeners = "SASL_PLAINTEXT://127.0.0.1:0"});
    ASSERT_NE(broker, nullptr);
    const auto login = [&](WireClient& client, const std::string& password) {
        const SaslHandshakeResponse* const hands = shake_hands(client, "PLAIN");
        EXPECT_NE(hands, nullptr) << client.failure();
        // Version 1 is the newest that is offered.
        const auto* answer = say(client, authentication::plain_token("$ConnectionString", password), 1);
        return answer == nullptr ? ErrorCode::unknown_server_error : answer->error_code;
    };
    WireClient right(broker->port());
    EXPECT_EQ(login(right, connection_string("c2VjcmV0=")), ErrorCode::none);
    EXPECT_TRUE(is_served(right));
    for (const std::string& wrong : {connection_string("c2VjcmV1="), connection_string("c2VjcmV0"), std::string("c2VjcmV0=")}) {
        WireClient client(broker->port());
        EXPECT_EQ(login(client, wrong), ErrorCode::sasl_authentication_failed);
        EXPECT_TRUE(client.is_closed_within());
    }
    WireClient stranger(broker->port());
    ASSERT_TRUE(stranger.send(request_frame(5, MetadataRequest{})));
    EXPECT_TRUE(stranger.is_closed_within());

    WireClient of_one_topic(broker->port());
    ASSERT_EQ(login(of_one_topic, connection_string("c2VjcmV0=", ";EntityPath=orders")), ErrorCode::none);
    const auto create = [&](std::string_view topic) {
        const std::array topics{CreateTopicsRequest::CreatableTopic{.name = topic, .num_partitions = 1, .replication_factor = 1}};
        const auto* response =
            of_one_topic.call<CreateTopicsResponse>(6, CreateTopicsRequest{.topics = topics, .timeout_ms = 10'000});
        return response == nullptr ? ErrorCode::unknown_server_error : response->topics[0].error_code;
    };
    EXPECT_EQ(create("payments"), ErrorCode::topic_authorization_failed);
    EXPECT_EQ(create("orders"), ErrorCode::none);
}

}  // namespace
}  // namespace partita::test
