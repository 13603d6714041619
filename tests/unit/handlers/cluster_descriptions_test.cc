// Tests the requests that describe the cluster, from clients that may do so, that may only describe, and that may not. A whole
// broker runs with `authorizer.class.name`. No client is authenticated; ACLs tell clients of one machine apart by their address.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/access/permission.h"
#include "protocol/messages/30_create_acls.h"
#include "protocol/messages/45_alter_partition_reassignments.h"
#include "protocol/messages/46_list_partition_reassignments.h"
#include "protocol/messages/50_describe_user_scram_credentials.h"
#include "protocol/messages/51_alter_user_scram_credentials.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using DescribedUser = DescribeUserScramCredentialsResponse::DescribeUserScramCredentialsResult;

class ClusterDescriptions : public ::testing::Test {
  protected:
    static constexpr std::string_view kAdministrator = "127.0.0.1";
    static constexpr std::string_view kGuest = "127.0.0.2";
    static constexpr std::int8_t kSha256 = 1;
    static constexpr std::int32_t kIterations = 8192;

    void SetUp() override {
        // Before the first rule, a client without a rule may do everything.
        broker_ =
            InProcessBroker::start({.data_directory = directory_ / "data",
                                    .overrides = {"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                                                  "allow.everyone.if.no.acl.found=true"},
                                    .listeners = "PLAINTEXT://127.0.0.1:0"});
        ASSERT_NE(broker_, nullptr);
        administrator_ = std::make_unique<WireClient>(broker_->port());
        guest_ = std::make_unique<WireClient>(broker_->port(), WireClient::Caller{"guest", std::string(kGuest)});
        ASSERT_TRUE(administrator_->is_connected() && guest_->is_connected());
        allow(kAdministrator, access::Operation::all);
    }
    void TearDown() override {
        if (broker_) {
            EXPECT_TRUE(broker_->stop());
        }
    }

    /// On the cluster.
    void allow(std::string_view host, access::Operation operation) {
        constexpr std::int8_t kLiteralPattern = 3;
        constexpr std::int8_t kAllowing = 3;
        std::array acls{CreateAclsRequest::AclCreation{.resource_type = static_cast<std::int8_t>(access::ResourceType::cluster),
                                                       .resource_name = "kafka-cluster",
                                                       .resource_pattern_type = kLiteralPattern,
                                                       .principal = "User:ANONYMOUS",
                                                       .host = host,
                                                       .operation = static_cast<std::int8_t>(operation),
                                                       .permission_type = kAllowing}};
        const CreateAclsRequest request{.creations = Array<CreateAclsRequest::AclCreation>(std::span(acls))};
        const auto* reply = administrator_->call<CreateAclsResponse>(3, request);
        ASSERT_NE(reply, nullptr);
        ASSERT_EQ(reply->results[0].error_code, ErrorCode::none);
    }
    const ListPartitionReassignmentsResponse* list_reassignments(WireClient& client) {
        std::array<std::int32_t, 2> partitions{0, 7};
        std::array topics{ListPartitionReassignmentsRequest::ListPartitionReassignmentsTopics{
            .name = "orders", .partition_indexes = Array<std::int32_t>(std::span(partitions))}};
        return client.call<ListPartitionReassignmentsResponse>(
            0, ListPartitionReassignmentsRequest{
                   .topics = Array<ListPartitionReassignmentsRequest::ListPartitionReassignmentsTopics>(std::span(topics))});
    }
    ErrorCode alter_reassignments(WireClient& client) {
        using Topic = AlterPartitionReassignmentsRequest::ReassignableTopic;
        std::array partitions{AlterPartitionReassignmentsRequest::ReassignablePartition{.partition_index = 0}};
        std::array topics{
            Topic{.name = "orders",
                  .partitions = Array<AlterPartitionReassignmentsRequest::ReassignablePartition>(std::span(partitions))}};
        const auto* reply = client.call<AlterPartitionReassignmentsResponse>(
            0, AlterPartitionReassignmentsRequest{.topics = Array<Topic>(std::span(topics))});
        return reply == nullptr ? ErrorCode::network_exception : reply->error_code;
    }
    const DescribeUserScramCredentialsResponse* describe_users(WireClient& client, std::vector<std::string_view> names) {
        std::vector<DescribeUserScramCredentialsRequest::UserName> users;
        for (const std::string_view name : names) {
            users.push_back({.name = name});
        }
        return client.call<DescribeUserScramCredentialsResponse>(
            0,
            DescribeUserScramCredentialsRequest{.users = Array<DescribeUserScramCredentialsRequest::UserName>(std::span(users))});
    }
    ErrorCode give_credential(WireClient& client, std::string_view user) {
        static constexpr std::array<std::byte, 16> kSalt{};
        static constexpr std::array<std::byte, 32> kSaltedPassword{};
        std::array upsertions{AlterUserScramCredentialsRequest::ScramCredentialUpsertion{
            .name = user, .mechanism = kSha256, .iterations = kIterations, .salt = kSalt, .salted_password = kSaltedPassword}};
        const auto* reply = client.call<AlterUserScramCredentialsResponse>(
            0, AlterUserScramCredentialsRequest{
                   .upsertions = Array<AlterUserScramCredentialsRequest::ScramCredentialUpsertion>(std::span(upsertions))});
        return reply == nullptr ? ErrorCode::network_exception : reply->results[0].error_code;
    }

    TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<WireClient> administrator_;
    std::unique_ptr<WireClient> guest_;
};

TEST_F(ClusterDescriptions, WhoMayDescribeTheClusterIsToldThatNothingIsReassigned) {
    const auto is_told = [&](WireClient& client) {
        const auto* reply = list_reassignments(client);
        return reply != nullptr && reply->error_code == ErrorCode::none && !reply->error_message && reply->topics.count() == 0;
    };
    EXPECT_TRUE(is_told(*administrator_));
    EXPECT_FALSE(is_told(*guest_));
    allow(kGuest, access::Operation::describe);
    EXPECT_TRUE(is_told(*guest_));
}

TEST_F(ClusterDescriptions, ARefusalOfReassignmentsRepeatsWhatWasAskedFor) {
    const auto* reply = list_reassignments(*guest_);
    ASSERT_NE(reply, nullptr);
    EXPECT_EQ(reply->error_code, ErrorCode::cluster_authorization_failed);
    EXPECT_EQ(reply->error_message, "Request ListPartitionReassignments needs DESCRIBE permission.");
    ASSERT_EQ(reply->topics.count(), 1U);
    EXPECT_EQ(reply->topics[0].name, "orders");
    ASSERT_EQ(reply->topics[0].partitions.count(), 2U);
    EXPECT_EQ(reply->topics[0].partitions[0].partition_index, 0);
    EXPECT_EQ(reply->topics[0].partitions[1].partition_index, 7);
    EXPECT_EQ(reply->topics[0].partitions[1].replicas.count(), 0U);
}

TEST_F(ClusterDescriptions, WhoMayOnlyDescribeTheClusterReassignsNothing) {
    allow(kGuest, access::Operation::describe);
    EXPECT_EQ(alter_reassignments(*guest_), ErrorCode::cluster_authorization_failed);
    EXPECT_EQ(alter_reassignments(*administrator_), ErrorCode::none);
}

TEST_F(ClusterDescriptions, AlterOfTheClusterImpliesBothDescriptions) {
    allow(kGuest, access::Operation::alter);
    EXPECT_EQ(list_reassignments(*guest_)->error_code, ErrorCode::none);
    EXPECT_EQ(describe_users(*guest_, {"alice"})->error_code, ErrorCode::none);
}

TEST_F(ClusterDescriptions, WhoMayDescribeTheClusterSeesMechanismsAndIterationsOfUsers) {
    ASSERT_EQ(give_credential(*administrator_, "alice"), ErrorCode::none);
    allow(kGuest, access::Operation::describe);
    for (WireClient* client : {administrator_.get(), guest_.get()}) {
        const auto* reply = describe_users(*client, {"alice", "nobody"});
        ASSERT_NE(reply, nullptr);
        EXPECT_EQ(reply->error_code, ErrorCode::none);
        ASSERT_EQ(reply->results.count(), 2U);
        EXPECT_EQ(reply->results[0].user, "alice");
        EXPECT_EQ(reply->results[0].error_code, ErrorCode::none);
        ASSERT_EQ(reply->results[0].credential_infos.count(), 1U);
        EXPECT_EQ(reply->results[0].credential_infos[0].mechanism, kSha256);
        EXPECT_EQ(reply->results[0].credential_infos[0].iterations, kIterations);
        EXPECT_EQ(reply->results[1].user, "nobody");
        EXPECT_EQ(reply->results[1].error_code, ErrorCode::resource_not_found);
    }
}

TEST_F(ClusterDescriptions, WhoMayNotDescribeTheClusterLearnsOfNoUserWhetherThereIsOne) {
    ASSERT_EQ(give_credential(*administrator_, "alice"), ErrorCode::none);
    const auto* reply = describe_users(*guest_, {"alice", "nobody"});
    ASSERT_NE(reply, nullptr);
    EXPECT_EQ(reply->error_code, ErrorCode::cluster_authorization_failed);
    EXPECT_FALSE(reply->error_message);
    ASSERT_EQ(reply->results.count(), 2U) << "one for each who was asked for";
    for (std::size_t index = 0; index < 2; ++index) {
        const DescribedUser& user = reply->results[index];
        EXPECT_EQ(user.user, "");
        EXPECT_EQ(user.error_code, ErrorCode::cluster_authorization_failed);
        EXPECT_FALSE(user.error_message);
        EXPECT_EQ(user.credential_infos.count(), 0U);
    }
    reply = describe_users(*guest_, {});
    ASSERT_NE(reply, nullptr);
    EXPECT_EQ(reply->error_code, ErrorCode::cluster_authorization_failed);
    EXPECT_EQ(reply->results.count(), 0U) << "whoever asks for all is not told how many there are";
}

TEST_F(ClusterDescriptions, WhoMayOnlyDescribeTheClusterGivesNobodyACredential) {
    allow(kGuest, access::Operation::describe);
    EXPECT_EQ(give_credential(*guest_, "mallory"), ErrorCode::cluster_authorization_failed);
    const auto* reply = describe_users(*administrator_, {"mallory"});
    ASSERT_NE(reply, nullptr);
    EXPECT_EQ(reply->results[0].error_code, ErrorCode::resource_not_found);
}

}  // namespace
}  // namespace partita::test
