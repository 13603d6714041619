// Tests a whole broker with `authorizer.class.name`: its ACLs decide what clients may do. No client is authenticated; ACLs tell
// clients of one machine apart by their address.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "broker/logs/published_topics.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/02_list_offsets.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/20_delete_topics.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/29_describe_acls.h"
#include "protocol/messages/30_create_acls.h"
#include "protocol/messages/31_delete_acls.h"
#include "protocol/messages/60_describe_cluster.h"
#include "tests/support/broker_process.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using access::Operation;
using access::ResourceType;
using Creation = CreateAclsRequest::AclCreation;
using Filter = DeleteAclsRequest::DeleteAclsFilter;

constexpr std::int8_t kDeny = 2;
constexpr std::int8_t kAllow = 3;
constexpr std::int8_t kLiteral = 3;
constexpr std::int8_t kPrefixed = 4;

Creation acl_of(std::int8_t effect, std::string_view host, Operation operation, ResourceType type, std::string_view name) {
    return {.resource_type = static_cast<std::int8_t>(type),
            .resource_name = name,
            .resource_pattern_type = kLiteral,
            .principal = "User:ANONYMOUS",
            .host = host,
            .operation = static_cast<std::int8_t>(operation),
            .permission_type = effect};
}

/// Rules let a client from 127.0.0.1 do everything. Clients from elsewhere may do what a test lets them.
class AclsInForce : public ::testing::Test {
  protected:
    static constexpr std::string_view kTopic = "t";
    static constexpr std::string_view kAdministrator = "127.0.0.1";
    static constexpr std::string_view kGuest = "127.0.0.2";

    void SetUp() override {
        start({"allow.everyone.if.no.acl.found=true"});
        // The same request may lock everybody else out: the broker judges it by the earlier rules.
        std::vector<Creation> everything;
        for (const auto type : {ResourceType::topic, ResourceType::group, ResourceType::transactional_id}) {
            everything.push_back(acl_of(kAllow, kAdministrator, Operation::all, type, "*"));
        }
        everything.push_back(acl_of(kAllow, kAdministrator, Operation::all, ResourceType::cluster, "kafka-cluster"));
        ASSERT_EQ(create(everything), std::vector(4, ErrorCode::none));
        ASSERT_TRUE(create_topic(*administrator_, kTopic, 1));
    }
    void TearDown() override {
        if (broker_) {
            EXPECT_TRUE(broker_->stop());
        }
    }
    void start(std::vector<std::string> overrides) {
        overrides.push_back("authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer");
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data",
                                          .file_system = &files_,
                                          .overrides = std::move(overrides),
                                          .listeners = "PLAINTEXT://127.0.0.1:0"});
        ASSERT_NE(broker_, nullptr);
        administrator_ = std::make_unique<WireClient>(broker_->port());
        guest_ = std::make_unique<WireClient>(broker_->port(), WireClient::Caller{"guest", std::string(kGuest)});
        ASSERT_TRUE(administrator_->is_connected() && guest_->is_connected());
    }

    std::vector<ErrorCode> create(std::vector<Creation> acls, WireClient* by = nullptr) {
        const CreateAclsRequest request{.creations = Array<Creation>(std::span(acls))};
        const auto* reply = (by ? by : administrator_.get())->call<CreateAclsResponse>(3, request);
        std::vector<ErrorCode> errors;
        if (reply != nullptr) {
            for (const auto& result : reply->results) {
                errors.push_back(result.error_code);
            }
        }
        return errors;
    }
    /// Returns how many ACLs it deleted.
    std::size_t erase(Filter filter) {
        std::array filters{filter};
        const DeleteAclsRequest request{.filters = Array<Filter>(std::span(filters))};
        const auto* reply = administrator_->call<DeleteAclsResponse>(3, request);
        return reply == nullptr ? 0 : reply->filter_results[0].matching_acls.count();
    }
    static Filter filter_of(ResourceType type, std::string_view name, std::string_view host) {
        return {.resource_type_filter = static_cast<std::int8_t>(type),
                .resource_name_filter = name,
                .principal_filter = std::nullopt,
                .host_filter = host,
                .operation = access::kAnyCode,
                .permission_type = access::kAnyCode};
    }
    ErrorCode list_offsets(WireClient& client) {
        std::array asked{ListOffsetsRequest::ListOffsetsPartition{.timestamp = -1}};
        std::array topics{ListOffsetsRequest::ListOffsetsTopic{
            .name = kTopic, .partitions = Array<ListOffsetsRequest::ListOffsetsPartition>(std::span(asked))}};
        const auto* reply = client.call<ListOffsetsResponse>(
            7, ListOffsetsRequest{.replica_id = -1, .topics = Array<ListOffsetsRequest::ListOffsetsTopic>(std::span(topics))});
        return reply == nullptr ? ErrorCode::network_exception : reply->topics[0].partitions[0].error_code;
    }
    ErrorCode produce_as(WireClient& client) {
        const std::vector<std::string> values{"v"};
        return produce(client, kTopic, 0, make_batch(values)).value_or(ErrorCode::network_exception);
    }

    TemporaryDirectory directory_;
    FaultyFileSystem files_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<WireClient> administrator_;
    std::unique_ptr<WireClient> guest_;
};

TEST_F(AclsInForce, AnAclHoldsFromTheAnswerThatMadeItToTheAnswerThatDeletedIt) {
    EXPECT_EQ(list_offsets(*guest_), ErrorCode::topic_authorization_failed);
    for (int round = 0; round < 20; ++round) {
        ASSERT_EQ(create({acl_of(kAllow, kGuest, Operation::read, ResourceType::topic, kTopic)}), std::vector{ErrorCode::none});
        ASSERT_EQ(list_offsets(*guest_), ErrorCode::none) << "READ implies DESCRIBE";
        ASSERT_EQ(produce_as(*guest_), ErrorCode::topic_authorization_failed);
        ASSERT_EQ(erase(filter_of(ResourceType::topic, kTopic, kGuest)), 1U);
        ASSERT_EQ(list_offsets(*guest_), ErrorCode::topic_authorization_failed);
    }
    EXPECT_EQ(list_offsets(*administrator_), ErrorCode::none);
    EXPECT_EQ(produce_as(*administrator_), ErrorCode::none);
}

TEST_F(AclsInForce, TheyAreInForceAgainAfterARestart) {
    Creation write = acl_of(kAllow, kGuest, Operation::write, ResourceType::topic, "t");
    write.resource_pattern_type = kPrefixed;
    ASSERT_EQ(create({write}), std::vector{ErrorCode::none});
    ASSERT_TRUE(broker_->stop());
    broker_.reset();
    start({});
    EXPECT_EQ(produce_as(*guest_), ErrorCode::none);
    EXPECT_EQ(list_offsets(*administrator_), ErrorCode::none);
    ASSERT_EQ(create({acl_of(kDeny, kGuest, Operation::write, ResourceType::topic, "*")}), std::vector{ErrorCode::none});
    EXPECT_EQ(produce_as(*guest_), ErrorCode::topic_authorization_failed) << "what denies wins";
    EXPECT_EQ(list_offsets(*guest_), ErrorCode::none) << "a rule that denies WRITE does not deny DESCRIBE";
}

TEST_F(AclsInForce, OnlyWhoMayAlterTheClusterChangesThemAndOnlyWhoMayDescribeItSeesThem) {
    const auto described = [&](WireClient& client) {
        const DescribeAclsRequest all{.resource_type_filter = access::kAnyCode,
                                      .resource_name_filter = std::nullopt,
                                      .pattern_type_filter = access::kAnyCode,
                                      .principal_filter = std::nullopt,
                                      .host_filter = std::nullopt,
                                      .operation = access::kAnyCode,
                                      .permission_type = access::kAnyCode};
        const auto* reply = client.call<DescribeAclsResponse>(3, all);
        return reply == nullptr ? std::pair{ErrorCode::network_exception, std::size_t{0}}
                                : std::pair{reply->error_code, reply->resources.count()};
    };
    const Creation wish = acl_of(kAllow, kGuest, Operation::all, ResourceType::topic, kTopic);
    EXPECT_EQ(create({wish}, guest_.get()), std::vector{ErrorCode::cluster_authorization_failed});
    EXPECT_EQ(described(*guest_), std::pair(ErrorCode::cluster_authorization_failed, std::size_t{0}));
    EXPECT_EQ(described(*administrator_), std::pair(ErrorCode::none, std::size_t{4}));
    ASSERT_EQ(create({acl_of(kAllow, kGuest, Operation::describe, ResourceType::cluster, "kafka-cluster")}),
              std::vector{ErrorCode::none});
    EXPECT_EQ(described(*guest_), std::pair(ErrorCode::none, std::size_t{4})) << "both rules of the cluster have one pattern";
    EXPECT_EQ(create({wish}, guest_.get()), std::vector{ErrorCode::cluster_authorization_failed});
    ASSERT_EQ(create({acl_of(kAllow, kGuest, Operation::alter, ResourceType::cluster, "kafka-cluster")}),
              std::vector{ErrorCode::none});
    EXPECT_EQ(create({wish}, guest_.get()), std::vector{ErrorCode::none});
    EXPECT_EQ(list_offsets(*guest_), ErrorCode::none);
}

TEST_F(AclsInForce, AnInvalidAclIsRefusedAndItsNeighbourIsMade) {
    Creation elsewhere = acl_of(kAllow, kGuest, Operation::all, ResourceType::cluster, "another");
    EXPECT_EQ(create({elsewhere, acl_of(kAllow, kGuest, Operation::read, ResourceType::topic, kTopic)}),
              (std::vector{ErrorCode::invalid_request, ErrorCode::none}));
    EXPECT_EQ(list_offsets(*guest_), ErrorCode::none);
}

TEST_F(AclsInForce, WhatCouldNotBeWrittenIsNotInForce) {
    files_.fail(FileOperation::write, "/__partita_catalog-0/", ENOSPC, 0, 1);
    EXPECT_EQ(create({acl_of(kAllow, kGuest, Operation::read, ResourceType::topic, kTopic)}),
              std::vector{ErrorCode::kafka_storage_error});
    EXPECT_EQ(list_offsets(*guest_), ErrorCode::topic_authorization_failed);
    EXPECT_EQ(files_.failures(), 1);
}

TEST_F(AclsInForce, AnyTopicThatMayBeWrittenIsEnoughForAProducerId) {
    const auto ask = [&] {
        const auto* reply = guest_->call<InitProducerIdResponse>(
            4, InitProducerIdRequest{.transactional_id = std::nullopt, .transaction_timeout_ms = 1000});
        return reply == nullptr ? ErrorCode::network_exception : reply->error_code;
    };
    EXPECT_EQ(ask(), ErrorCode::cluster_authorization_failed);
    ASSERT_EQ(create({acl_of(kAllow, kGuest, Operation::write, ResourceType::topic, "somewhere")}), std::vector{ErrorCode::none});
    EXPECT_EQ(ask(), ErrorCode::none);
}

TEST_F(AclsInForce, EverythingOnTheClusterIsEnoughToDeleteATopic) {
    const auto remove = [&] {
        std::array topics{DeleteTopicsRequest::DeleteTopicState{.name = kTopic}};
        const auto* reply = guest_->call<DeleteTopicsResponse>(
            6,
            DeleteTopicsRequest{.topics = Array<DeleteTopicsRequest::DeleteTopicState>(std::span(topics)), .timeout_ms = 9000});
        return reply == nullptr ? ErrorCode::network_exception : reply->responses[0].error_code;
    };
    EXPECT_EQ(remove(), ErrorCode::topic_authorization_failed);
    ASSERT_EQ(create({acl_of(kAllow, kGuest, Operation::all, ResourceType::cluster, "kafka-cluster")}),
              std::vector{ErrorCode::none});
    EXPECT_EQ(remove(), ErrorCode::none);
}

TEST_F(AclsInForce, SuperUsersMayEverything) {
    ASSERT_EQ(create({acl_of(kDeny, "*", Operation::all, ResourceType::topic, "*")}), std::vector{ErrorCode::none});
    EXPECT_EQ(list_offsets(*administrator_), ErrorCode::topic_authorization_failed);
    ASSERT_TRUE(broker_->stop());
    broker_.reset();
    start({"super.users=User:admin; User:ANONYMOUS"});
    EXPECT_EQ(list_offsets(*guest_), ErrorCode::none);
}

TEST_F(AclsInForce, RepliesTellWhatTheRulesAllow) {
    const auto operations = [&] {
        const auto* reply =
            guest_->call<DescribeClusterResponse>(2, DescribeClusterRequest{.include_cluster_authorized_operations = true});
        return reply == nullptr ? -1 : reply->cluster_authorized_operations;
    };
    EXPECT_EQ(operations(), 0);
    ASSERT_EQ(create({acl_of(kAllow, kGuest, Operation::alter, ResourceType::cluster, "kafka-cluster")}),
              std::vector{ErrorCode::none});
    EXPECT_EQ(operations(), access::operation_bit(Operation::alter) | access::operation_bit(Operation::describe));
}

}  // namespace
}  // namespace partita::test
