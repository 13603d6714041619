// Tests the permissions that handlers ask for, in a whole broker with the test's own rules. Each handler asks for exactly what
// its API declares, and refuses a client that lacks it.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "broker/handlers/registry.h"
#include "broker/logs/published_topics.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/02_list_offsets.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/12_heartbeat.h"
#include "protocol/messages/13_leave_group.h"
#include "protocol/messages/14_sync_group.h"
#include "protocol/messages/15_describe_groups.h"
#include "protocol/messages/16_list_groups.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/20_delete_topics.h"
#include "protocol/messages/21_delete_records.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/23_offset_for_leader_epoch.h"
#include "protocol/messages/24_add_partitions_to_txn.h"
#include "protocol/messages/25_add_offsets_to_txn.h"
#include "protocol/messages/26_end_txn.h"
#include "protocol/messages/27_write_txn_markers.h"
#include "protocol/messages/28_txn_offset_commit.h"
#include "protocol/messages/29_describe_acls.h"
#include "protocol/messages/30_create_acls.h"
#include "protocol/messages/31_delete_acls.h"
#include "protocol/messages/32_describe_configs.h"
#include "protocol/messages/33_alter_configs.h"
#include "protocol/messages/34_alter_replica_log_dirs.h"
#include "protocol/messages/35_describe_log_dirs.h"
#include "protocol/messages/37_create_partitions.h"
#include "protocol/messages/42_delete_groups.h"
#include "protocol/messages/43_elect_leaders.h"
#include "protocol/messages/44_incremental_alter_configs.h"
#include "protocol/messages/45_alter_partition_reassignments.h"
#include "protocol/messages/46_list_partition_reassignments.h"
#include "protocol/messages/47_offset_delete.h"
#include "protocol/messages/48_describe_client_quotas.h"
#include "protocol/messages/49_alter_client_quotas.h"
#include "protocol/messages/50_describe_user_scram_credentials.h"
#include "protocol/messages/51_alter_user_scram_credentials.h"
#include "protocol/messages/55_describe_quorum.h"
#include "protocol/messages/57_update_features.h"
#include "protocol/messages/60_describe_cluster.h"
#include "protocol/messages/61_describe_producers.h"
#include "protocol/messages/64_unregister_broker.h"
#include "protocol/messages/65_describe_transactions.h"
#include "protocol/messages/66_list_transactions.h"
#include "protocol/messages/68_consumer_group_heartbeat.h"
#include "protocol/messages/69_consumer_group_describe.h"
#include "protocol/messages/74_list_config_resources.h"
#include "protocol/messages/75_describe_topic_partitions.h"
#include "protocol/messages/76_share_group_heartbeat.h"
#include "protocol/messages/77_share_group_describe.h"
#include "protocol/messages/78_share_fetch.h"
#include "protocol/messages/79_share_acknowledge.h"
#include "protocol/messages/80_add_raft_voter.h"
#include "protocol/messages/81_remove_raft_voter.h"
#include "protocol/messages/90_describe_share_group_offsets.h"
#include "protocol/messages/91_alter_share_group_offsets.h"
#include "protocol/messages/92_delete_share_group_offsets.h"
#include "protocol/record_batch_builder.h"
#include "tests/support/broker_process.h"
#include "tests/support/coordinator.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using access::Permission;

/// Rules that allow everything, nothing, or everything except some operations, on every resource or on one. They note every
/// question.
class NotedRules final : public access::Rules {
  public:
    bool allows(const access::Requester& requester, Permission permission, std::optional<std::string_view> name) const override {
        EXPECT_EQ(requester.principal.text(), "User:ANONYMOUS");
        EXPECT_EQ(requester.address, "127.0.0.1");
        const std::scoped_lock lock(mutex_);
        asked_.insert(permission);
        return may_everything_ && (!withheld_.contains(permission) || (withheld_name_ && name != withheld_name_));
    }
    void set(bool may_everything, std::set<Permission> withheld = {}, std::optional<std::string_view> name = std::nullopt) {
        const std::scoped_lock lock(mutex_);
        may_everything_ = may_everything;
        withheld_ = std::move(withheld);
        withheld_name_ = name;
    }
    std::set<Permission> take_asked() {
        const std::scoped_lock lock(mutex_);
        return std::exchange(asked_, {});
    }

  private:
    mutable std::mutex mutex_;
    mutable std::set<Permission> asked_;
    bool may_everything_ = true;
    std::set<Permission> withheld_;
    std::optional<std::string_view> withheld_name_;
};

class AccessRules : public ::testing::Test {
  protected:
    static constexpr std::string_view kTopic = "t";
    static constexpr std::string_view kGroup = "g";
    /// A share group with a member that has a partition of the topic.
    static constexpr std::string_view kQueue = "q";
    /// The id of an open transaction that wrote to the topic.
    static constexpr std::string_view kTransactionalId = "x";

    void SetUp() override {
        broker_ =
            InProcessBroker::start({.data_directory = directory_ / "data",
                                    .overrides = {"unstable.api.versions.enable=true", "group.share.assignment.interval.ms=0"},
                                    .access_rules = &rules_});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<WireClient>(broker_->port());
        ASSERT_TRUE(create_topic(*client_, std::string(kTopic), 1));
        topic_id_ = broker_->services().topics.table()->find(kTopic)->topic->id;
        ASSERT_EQ(find_coordinator(*client_, kGroup), ErrorCode::none);
        // A group of the consumer protocol with a member, which commits.
        const ConsumerGroupHeartbeatRequest join{.group_id = kGroup,
                                                 .member_id = "m",
                                                 .rebalance_timeout_ms = 60'000,
                                                 .subscribed_topic_names = one(kTopic),
                                                 .topic_partitions = {}};
        const auto* joined = client_->call<ConsumerGroupHeartbeatResponse>(1, join);
        ASSERT_NE(joined, nullptr) << client_->failure();
        ASSERT_EQ(joined->error_code, ErrorCode::none);
        // The second heartbeat finds that the state of the partitions has begun.
        for (const std::int32_t epoch : {0, 2}) {
            const auto* shares = client_->call<ShareGroupHeartbeatResponse>(
                1, ShareGroupHeartbeatRequest{
                       .group_id = kQueue, .member_id = "m", .member_epoch = epoch, .subscribed_topic_names = one(kTopic)});
            ASSERT_NE(shares, nullptr) << client_->failure();
            ASSERT_EQ(shares->error_code, ErrorCode::none);
        }
        ASSERT_NO_FATAL_FAILURE(begin_transaction());
        rules_.take_asked();
    }
    void begin_transaction() {
        const FindCoordinatorRequest find{.key_type = 1, .coordinator_keys = one(kTransactionalId)};
        ASSERT_NE(client_->call<FindCoordinatorResponse>(4, find), nullptr) << client_->failure();
        const InitProducerIdRequest init{.transactional_id = kTransactionalId, .transaction_timeout_ms = 60'000};
        const auto* producer = client_->call<InitProducerIdResponse>(5, init);
        ASSERT_NE(producer, nullptr) << client_->failure();
        ASSERT_EQ(producer->error_code, ErrorCode::none);
        producer_id_ = producer->producer_id;
        const auto* added = client_->call<AddPartitionsToTxnResponse>(3, adding());
        ASSERT_NE(added, nullptr) << client_->failure();
        ASSERT_EQ(added->results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code, ErrorCode::none);
    }
    AddPartitionsToTxnRequest adding() {
        return {
            .v3_and_below_transactional_id = kTransactionalId,
            .v3_and_below_producer_id = producer_id_,
            .v3_and_below_topics = one(AddPartitionsToTxnRequest::AddPartitionsToTxnTopic{.name = kTopic, .partitions = one(0)})};
    }
    void TearDown() override {
        client_.reset();
        EXPECT_TRUE(broker_->stop());
    }

    /// Sends a request in the newest version; the reply as text.
    std::string answer(const ApiInfo& api, const void* request) { return answer(api, request, api.latest_version(false)); }
    std::string answer(const ApiInfo& api, const void* request, std::int16_t version) {
        const void* reply = client_->call(api, version, request);
        if (reply == nullptr) {
            ADD_FAILURE() << api.name << ": " << client_->failure();
            client_ = std::make_unique<WireClient>(broker_->port());
            return {};
        }
        return to_text(*api.response, reply, version);
    }

    template <class T>
    Array<T> one(T value) {
        return Array<T>(new (arena_.allocate_unlimited(sizeof(T), alignof(T))) T(value), 1);
    }
    struct Asked {
        const ApiInfo* api;
        const void* request;
        /// The error when everything that the request asks for is refused; NONE when the reply leaves the resource out.
        ErrorCode refusal;
        std::int16_t version = 0;
    };
    /// Adds a request in the newest version.
    template <class Request>
    void add(ErrorCode refusal, Request request) {
        add(refusal, api_of<Request>().latest_version(false), request);
    }
    template <class Request>
    void add(ErrorCode refusal, std::int16_t version, Request request) {
        requests_.push_back({&api_of<Request>(), one(request).begin(), refusal, version});
    }
    void add_requests_of_records();
    void add_requests_of_transactions();
    void add_requests_of_groups();
    void add_requests_of_share_groups();
    void add_requests_of_topics();
    void add_requests_of_the_cluster();
    void add_all() {
        add_requests_of_records();
        add_requests_of_transactions();
        add_requests_of_groups();
        add_requests_of_share_groups();
        add_requests_of_topics();
        add_requests_of_the_cluster();
    }

    static constexpr ErrorCode kTopicRefused = ErrorCode::topic_authorization_failed;
    static constexpr ErrorCode kGroupRefused = ErrorCode::group_authorization_failed;
    static constexpr ErrorCode kClusterRefused = ErrorCode::cluster_authorization_failed;
    static constexpr ErrorCode kIdRefused = ErrorCode::transactional_id_authorization_failed;

    TemporaryDirectory directory_;
    NotedRules rules_;
    Arena arena_;
    TopicId topic_id_;
    std::int64_t producer_id_ = -1;
    std::vector<Asked> requests_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<WireClient> client_;
};

ProduceRequest::PartitionProduceData transactional_data() {
    static const std::vector<std::byte> kBatch = [] {
        BatchBuilder builder({.producer_id = {1}, .producer_epoch = {0}, .base_sequence = {0}, .transactional = true});
        builder.append({1000}, std::nullopt, Bytes());
        std::vector<std::byte> bytes;
        builder.build(bytes);
        return bytes;
    }();
    return {.records = Records(Bytes(kBatch))};
}

void AccessRules::add_requests_of_records() {
    const auto records = one(
        ProduceRequest::TopicProduceData{.topic_id = topic_id_, .partition_data = one(ProduceRequest::PartitionProduceData{})});
    add(kTopicRefused, ProduceRequest{.acks = 1, .timeout_ms = 1000, .topic_data = records});
    // The handler asks about the id only when there is a batch of a transaction.
    add(kTopicRefused, ProduceRequest{.transactional_id = "x", .acks = 1, .timeout_ms = 1000, .topic_data = records});
    const auto in_transaction =
        one(ProduceRequest::TopicProduceData{.topic_id = topic_id_, .partition_data = one(transactional_data())});
    add(kIdRefused, ProduceRequest{.transactional_id = "x", .acks = 1, .timeout_ms = 1000, .topic_data = in_transaction});
    add(kTopicRefused, FetchRequest{.session_epoch = -1,
                                    .topics = one(FetchRequest::FetchTopic{.topic_id = topic_id_,
                                                                           .partitions = one(FetchRequest::FetchPartition{})})});
    add(kTopicRefused, FetchRequest{.replica_state = {.replica_id = 7},
                                    .session_epoch = -1,
                                    .topics = one(FetchRequest::FetchTopic{.topic_id = topic_id_,
                                                                           .partitions = one(FetchRequest::FetchPartition{})})});
    add(kTopicRefused,
        ListOffsetsRequest{.replica_id = -1,
                           .topics = one(ListOffsetsRequest::ListOffsetsTopic{
                               .name = kTopic, .partitions = one(ListOffsetsRequest::ListOffsetsPartition{.timestamp = -1})})});
    add(kTopicRefused,
        DeleteRecordsRequest{.topics = one(DeleteRecordsRequest::DeleteRecordsTopic{
                                 .name = kTopic, .partitions = one(DeleteRecordsRequest::DeleteRecordsPartition{})})});
    add(kTopicRefused, OffsetForLeaderEpochRequest{
                           .topics = one(OffsetForLeaderEpochRequest::OffsetForLeaderTopic{
                               .topic = kTopic, .partitions = one(OffsetForLeaderEpochRequest::OffsetForLeaderPartition{})})});
    add(kClusterRefused, InitProducerIdRequest{.transactional_id = std::nullopt, .transaction_timeout_ms = 1000});
    add(kTopicRefused, DescribeProducersRequest{
                           .topics = one(DescribeProducersRequest::TopicRequest{.name = kTopic, .partition_indexes = one(0)})});
}

void AccessRules::add_requests_of_transactions() {
    add(kIdRefused, DescribeTransactionsRequest{.transactional_ids = one(kTransactionalId)});
    add(ErrorCode::none, ListTransactionsRequest{});
    add(kIdRefused, InitProducerIdRequest{.transactional_id = "y", .transaction_timeout_ms = 1000});
    add(kIdRefused, 6, InitProducerIdRequest{.transactional_id = "y", .transaction_timeout_ms = 1000, .enable2_pc = true});
    add(kIdRefused, 3, adding());
    add(kClusterRefused, AddPartitionsToTxnRequest{});
    add(kIdRefused,
        AddOffsetsToTxnRequest{.transactional_id = kTransactionalId, .producer_id = producer_id_, .group_id = kGroup});
    add(kIdRefused, TxnOffsetCommitRequest{.transactional_id = kTransactionalId,
                                           .group_id = kGroup,
                                           .producer_id = producer_id_,
                                           .generation_id = 1,
                                           .member_id = "m",
                                           .topics = one(TxnOffsetCommitRequest::Topic{
                                               .name = kTopic, .partitions = one(TxnOffsetCommitRequest::Partition{})})});
    add(kIdRefused, EndTxnRequest{.transactional_id = kTransactionalId, .producer_id = producer_id_, .committed = false});
    add(kClusterRefused,
        WriteTxnMarkersRequest{
            .markers = one(WriteTxnMarkersRequest::WritableTxnMarker{
                .producer_id = producer_id_,
                .topics = one(WriteTxnMarkersRequest::WritableTxnMarkerTopic{.name = kTopic, .partition_indexes = one(0)})})});
}

void AccessRules::add_requests_of_groups() {
    add(kGroupRefused, OffsetCommitRequest{.group_id = kGroup,
                                           .generation_id_or_member_epoch = 1,
                                           .member_id = "m",
                                           .topics = one(OffsetCommitRequest::Topic{
                                               .topic_id = topic_id_, .partitions = one(OffsetCommitRequest::Partition{})})});
    add(kGroupRefused,
        OffsetFetchRequest{.groups = one(OffsetFetchRequest::Group{
                               .group_id = kGroup,
                               .topics = one(OffsetFetchRequest::Topics{.topic_id = topic_id_, .partition_indexes = one(0)})})});
    add(kGroupRefused, FindCoordinatorRequest{.coordinator_keys = one(kGroup)});
    add(kIdRefused, FindCoordinatorRequest{.key_type = 1, .coordinator_keys = one(std::string_view("x"))});
    add(kGroupRefused, JoinGroupRequest{.group_id = "classic",
                                        .session_timeout_ms = 6000,
                                        .rebalance_timeout_ms = 100,
                                        .protocol_type = "consumer",
                                        .protocols = one(JoinGroupRequest::Protocol{.name = "range"})});
    add(kGroupRefused, HeartbeatRequest{.group_id = "classic", .member_id = "m"});
    add(kGroupRefused,
        LeaveGroupRequest{.group_id = "classic", .members = one(LeaveGroupRequest::MemberIdentity{.member_id = "m"})});
    add(kGroupRefused,
        SyncGroupRequest{.group_id = "classic", .member_id = "m", .protocol_type = "consumer", .protocol_name = "range"});
    add(kGroupRefused, DescribeGroupsRequest{.groups = one(kGroup), .include_authorized_operations = true});
    add(ErrorCode::none, ListGroupsRequest{});
    add(kGroupRefused, DeleteGroupsRequest{.groups_names = one(std::string_view("no-such-group"))});
    add(kGroupRefused, OffsetDeleteRequest{.group_id = kGroup,
                                           .topics = one(OffsetDeleteRequest::Topic{
                                               .name = kTopic, .partitions = one(OffsetDeleteRequest::Partition{})})});
    add(kGroupRefused, ConsumerGroupHeartbeatRequest{
                           .group_id = kGroup, .member_id = "m", .member_epoch = 1, .subscribed_topic_names = one(kTopic)});
    add(kGroupRefused, ConsumerGroupDescribeRequest{.group_ids = one(kGroup), .include_authorized_operations = true});
}

void AccessRules::add_requests_of_share_groups() {
    add(kGroupRefused, ShareGroupHeartbeatRequest{
                           .group_id = kQueue, .member_id = "m", .member_epoch = 3, .subscribed_topic_names = one(kTopic)});
    add(kGroupRefused, ShareGroupDescribeRequest{.group_ids = one(kQueue), .include_authorized_operations = true});
    add(kGroupRefused, ShareFetchRequest{.group_id = kQueue,
                                         .member_id = "m",
                                         .max_records = 1,
                                         .topics = one(ShareFetchRequest::FetchTopic{
                                             .topic_id = topic_id_, .partitions = one(ShareFetchRequest::FetchPartition{})})});
    // The session that the fetch has begun.
    add(kGroupRefused,
        ShareAcknowledgeRequest{.group_id = kQueue,
                                .member_id = "m",
                                .share_session_epoch = 1,
                                .topics = one(ShareAcknowledgeRequest::AcknowledgeTopic{
                                    .topic_id = topic_id_, .partitions = one(ShareAcknowledgeRequest::AcknowledgePartition{})})});
    add(kGroupRefused, DescribeShareGroupOffsetsRequest{
                           .groups = one(DescribeShareGroupOffsetsRequest::Group{.group_id = kQueue, .topics = nullptr})});
    add(kGroupRefused,
        AlterShareGroupOffsetsRequest{.group_id = kQueue,
                                      .topics = one(AlterShareGroupOffsetsRequest::Topic{
                                          .topic_name = kTopic, .partitions = one(AlterShareGroupOffsetsRequest::Partition{})})});
    add(kGroupRefused, DeleteShareGroupOffsetsRequest{
                           .group_id = kQueue, .topics = one(DeleteShareGroupOffsetsRequest::Topic{.topic_name = kTopic})});
}

void AccessRules::add_requests_of_topics() {
    add(kTopicRefused,
        MetadataRequest{.topics = one(MetadataRequest::Topic{.name = kTopic}), .include_topic_authorized_operations = true});
    add(kTopicRefused, MetadataRequest{.topics = one(MetadataRequest::Topic{.name = "made-by-metadata"})});
    add(ErrorCode::none, MetadataRequest{.topics = nullptr});
    add(kTopicRefused, DescribeTopicPartitionsRequest{.topics = one(DescribeTopicPartitionsRequest::TopicRequest{.name = kTopic}),
                                                      .response_partition_limit = 2});
    add(ErrorCode::none, DescribeTopicPartitionsRequest{.response_partition_limit = 2});
    add(kTopicRefused, CreateTopicsRequest{.topics = one(CreateTopicsRequest::CreatableTopic{
                                               .name = "made", .num_partitions = 1, .replication_factor = 1})});
    add(kTopicRefused,
        DeleteTopicsRequest{.topics = one(DeleteTopicsRequest::DeleteTopicState{.name = std::nullopt, .topic_id = topic_id_}),
                            .timeout_ms = 30'000});
    add(kTopicRefused, CreatePartitionsRequest{.topics = one(CreatePartitionsRequest::CreatePartitionsTopic{
                                                   .name = kTopic, .count = 4, .assignments = nullptr}),
                                               .timeout_ms = 30'000});
    // By type: topic, broker, group.
    for (const auto& [type, name, refusal] :
         {std::tuple{2, kTopic, kTopicRefused}, {4, std::string_view(""), kClusterRefused}, {32, kGroup, kGroupRefused}}) {
        const auto resource_type = static_cast<std::int8_t>(type);
        add(refusal,
            DescribeConfigsRequest{.resources = one(DescribeConfigsRequest::DescribeConfigsResource{
                                       .resource_type = resource_type, .resource_name = name, .configuration_keys = nullptr})});
        add(refusal, AlterConfigsRequest{.resources = one(AlterConfigsRequest::AlterConfigsResource{
                                             .resource_type = resource_type, .resource_name = name})});
        add(refusal, IncrementalAlterConfigsRequest{.resources = one(IncrementalAlterConfigsRequest::AlterConfigsResource{
                                                        .resource_type = resource_type, .resource_name = name})});
    }
}

void AccessRules::add_requests_of_the_cluster() {
    add(kClusterRefused, DescribeAclsRequest{.resource_type_filter = 1, .operation = 1, .permission_type = 1});
    add(kClusterRefused, CreateAclsRequest{.creations = one(CreateAclsRequest::AclCreation{})});
    add(kClusterRefused, DeleteAclsRequest{.filters = one(DeleteAclsRequest::DeleteAclsFilter{})});
    add(kClusterRefused,
        AlterReplicaLogDirsRequest{
            .dirs = one(AlterReplicaLogDirsRequest::AlterReplicaLogDir{
                .path = "/",
                .topics = one(AlterReplicaLogDirsRequest::AlterReplicaLogDirTopic{.name = kTopic, .partitions = one(0)})})});
    add(kClusterRefused, DescribeLogDirsRequest{.topics = nullptr});
    add(kClusterRefused, ElectLeadersRequest{.topic_partitions = one(
                                                 ElectLeadersRequest::TopicPartitions{.topic = kTopic, .partitions = one(0)})});
    add(kClusterRefused,
        AlterPartitionReassignmentsRequest{
            .topics = one(AlterPartitionReassignmentsRequest::ReassignableTopic{
                .name = kTopic, .partitions = one(AlterPartitionReassignmentsRequest::ReassignablePartition{})})});
    add(kClusterRefused, ListPartitionReassignmentsRequest{});
    add(kClusterRefused, DescribeClientQuotasRequest{});
    add(kClusterRefused, AlterClientQuotasRequest{
                             .entries = one(AlterClientQuotasRequest::EntryData{
                                 .entity = one(AlterClientQuotasRequest::EntityData{.entity_type = "user", .entity_name = "u"}),
                                 .ops = one(AlterClientQuotasRequest::OpData{.key = "producer_byte_rate", .value = 1e6})})});
    add(kClusterRefused, DescribeUserScramCredentialsRequest{});
    add(kClusterRefused,
        AlterUserScramCredentialsRequest{
            .deletions = one(AlterUserScramCredentialsRequest::ScramCredentialDeletion{.name = "u", .mechanism = 1})});
    add(kClusterRefused, DescribeQuorumRequest{});
    add(kClusterRefused, UpdateFeaturesRequest{});
    add(ErrorCode::none, DescribeClusterRequest{.include_cluster_authorized_operations = true});
    add(kClusterRefused, UnregisterBrokerRequest{.broker_id = 99});
    add(kClusterRefused, ListConfigResourcesRequest{});
    add(kClusterRefused, AddRaftVoterRequest{.cluster_id = std::nullopt});
    add(kClusterRefused, RemoveRaftVoterRequest{.cluster_id = std::nullopt});
}

TEST_F(AccessRules, HandlersAskForAllThatTheirRowsSayAndForNothingElse) {
    add_all();
    std::map<ApiKey, std::set<Permission>> asked;
    const auto ask_all = [&] {
        for (const Asked& each : requests_) {
            (void)answer(*each.api, each.request, each.version);
            asked[each.api->key].merge(rules_.take_asked());
        }
    };
    rules_.set(false);
    ask_all();
    rules_.set(true);
    // A topic is deleted last, since others need it.
    std::ranges::stable_partition(requests_, [](const Asked& each) { return each.api->key != ApiKey::delete_topics; });
    // A sufficient permission on the cluster keeps handlers from asking for others. The run above, without any permission, shows
    // those.
    ask_all();
    // Metadata tells about the cluster only in an older version.
    const MetadataRequest old{.topics = nullptr, .include_cluster_authorized_operations = true};
    ASSERT_NE(client_->call<MetadataResponse>(10, old), nullptr);
    asked[ApiKey::metadata].merge(rules_.take_asked());

    for (const handlers::ServedApi* served : handlers::served_apis()) {
        const handlers::ServedApi& row = *served;
        // No client here is authenticated, and only authenticated clients may have tokens.
        if (row.key == ApiKey::create_delegation_token || row.key == ApiKey::describe_delegation_token) {
            EXPECT_FALSE(asked.contains(row.key)) << row.api().name << " can be tried by now";
            continue;
        }
        std::set<Permission> said;
        for (const access::Need& need : row.needs) {
            said.insert(need.permission);
            if (need.or_on_cluster) {
                said.insert(*need.or_on_cluster);
            }
        }
        // The handler asks this only when expressions of other members are due to be resolved:
        // unit/groups/consumer_migration_test.cc.
        if (row.key == ApiKey::join_group) {
            said.erase(access::kDescribeTopic);
        }
        for (const Permission& permission : said) {
            EXPECT_TRUE(asked[row.key].contains(permission)) << row.api().name << " never asks for " << to_text(permission);
        }
        for (const Permission& permission : asked[row.key]) {
            // Replies say what else a client may do with a resource.
            const bool tells_operations = row.key == ApiKey::metadata || row.key == ApiKey::describe_topic_partitions ||
                                          row.key == ApiKey::describe_cluster || row.key == ApiKey::describe_groups ||
                                          row.key == ApiKey::consumer_group_describe || row.key == ApiKey::share_group_describe;
            EXPECT_TRUE(tells_operations || said.contains(permission)) << row.api().name << " asks for " << to_text(permission);
        }
    }
}

TEST_F(AccessRules, WhoMayNothingIsRefusedByTheErrorOfTheResourceAndChangesNothing) {
    add_all();
    rules_.set(false);
    const auto before = broker_->services().topics.table();
    for (const Asked& each : requests_) {
        const std::string text = answer(*each.api, each.request, each.version);
        if (each.refusal == ErrorCode::none) {
            EXPECT_EQ(text.find("\"t\""), std::string::npos) << each.api->name << " tells of a topic: " << text;
            EXPECT_EQ(text.find("\"g\""), std::string::npos) << each.api->name << " tells of a group: " << text;
            EXPECT_EQ(text.find("\"x\""), std::string::npos) << each.api->name << " tells of a transaction: " << text;
        } else {
            EXPECT_NE(text.find("ErrorCode: " + std::to_string(static_cast<int>(each.refusal))), std::string::npos)
                << each.api->name << " " << text;
            EXPECT_EQ(text.find("ErrorCode: 0, ErrorMessage"), std::string::npos) << each.api->name << " " << text;
        }
    }
    EXPECT_EQ(broker_->services().topics.table()->catalog, before->catalog) << "a refused request changed the catalog";
    EXPECT_EQ(before->find(kTopic)->partitions[0]->log->log_end_offset(), Offset{0});
}

TEST_F(AccessRules, OneTopicIsRefusedAndItsNeighbourIsServed) {
    ASSERT_TRUE(create_topic(*client_, "u", 1));
    rules_.set(true, {access::kDescribeTopic}, kTopic);
    const std::array asked{one(ListOffsetsRequest::ListOffsetsPartition{.timestamp = -1})};
    std::array topics{ListOffsetsRequest::ListOffsetsTopic{.name = kTopic, .partitions = asked[0]},
                      ListOffsetsRequest::ListOffsetsTopic{.name = "u", .partitions = asked[0]}};
    const auto* offsets = client_->call<ListOffsetsResponse>(7, ListOffsetsRequest{.replica_id = -1, .topics = topics});
    ASSERT_NE(offsets, nullptr) << client_->failure();
    EXPECT_EQ(offsets->topics[0].partitions[0].error_code, ErrorCode::topic_authorization_failed);
    EXPECT_EQ(offsets->topics[1].partitions[0].error_code, ErrorCode::none);
    const auto* everything = client_->call<MetadataResponse>(13, MetadataRequest{.topics = nullptr});
    ASSERT_NE(everything, nullptr) << client_->failure();
    EXPECT_TRUE(std::ranges::any_of(everything->topics, [](const auto& topic) { return topic.name == "u"; }));
    EXPECT_FALSE(std::ranges::any_of(everything->topics, [](const auto& topic) { return topic.name == kTopic; }));

    // A request by name must not reveal whether a topic exists; an id is no secret.
    std::array named{MetadataRequest::Topic{.name = kTopic}};
    const auto* by_name = client_->call<MetadataResponse>(13, MetadataRequest{.topics = named});
    ASSERT_NE(by_name, nullptr) << client_->failure();
    EXPECT_EQ(by_name->topics[0].error_code, ErrorCode::topic_authorization_failed);
    EXPECT_TRUE(by_name->topics[0].topic_id.is_zero());
    named[0] = {.topic_id = topic_id_, .name = std::nullopt};
    const auto* by_id = client_->call<MetadataResponse>(13, MetadataRequest{.topics = named});
    ASSERT_NE(by_id, nullptr) << client_->failure();
    EXPECT_EQ(by_id->topics[0].error_code, ErrorCode::topic_authorization_failed);
    EXPECT_FALSE(by_id->topics[0].name.has_value());
}

TEST_F(AccessRules, MetadataCreatesATopicOnlyForWhoMayCreateItOrAny) {
    const auto ask_for = [&](std::string_view name) {
        const std::array named{MetadataRequest::Topic{.name = name}};
        const auto* reply = client_->call<MetadataResponse>(
            13, MetadataRequest{.topics = Array<MetadataRequest::Topic>(named), .allow_auto_topic_creation = true});
        return reply == nullptr ? ErrorCode::network_exception : reply->topics[0].error_code;
    };
    const auto exists = [&](std::string_view name) { return broker_->services().topics.table()->find(name) != nullptr; };
    rules_.set(true, {access::kCreateTopic, access::kCreateInCluster});
    EXPECT_EQ(ask_for("of-nobody"), ErrorCode::topic_authorization_failed);
    EXPECT_FALSE(exists("of-nobody"));
    rules_.set(true, {access::kCreateInCluster});
    EXPECT_EQ(ask_for("of-its-creator"), ErrorCode::unknown_topic_or_partition);
    EXPECT_TRUE(exists("of-its-creator"));
    rules_.set(true, {access::kCreateTopic});
    EXPECT_EQ(ask_for("of-any-creator"), ErrorCode::unknown_topic_or_partition);
    EXPECT_TRUE(exists("of-any-creator"));
}

TEST_F(AccessRules, WhoMayReadAGroupButNotItsTopicIsRefusedTheTopic) {
    rules_.set(true, {access::kReadTopic});
    const OffsetCommitRequest commit{
        .group_id = "simple",
        .generation_id_or_member_epoch = -1,
        .topics = one(OffsetCommitRequest::Topic{.topic_id = topic_id_, .partitions = one(OffsetCommitRequest::Partition{})})};
    EXPECT_NE(answer(api_of<OffsetCommitRequest>(), &commit).find("ErrorCode: 29"), std::string::npos);
    rules_.set(true, {access::kDescribeTopic});
    const ConsumerGroupDescribeRequest describe{.group_ids = one(kGroup)};
    const std::string group = answer(api_of<ConsumerGroupDescribeRequest>(), &describe);
    EXPECT_NE(group.find("ErrorCode: 29"), std::string::npos) << group;
    EXPECT_EQ(group.find("\"m\""), std::string::npos) << "members are told: " << group;
}

TEST_F(AccessRules, OffsetsOfATopicThatMayNotBeDescribedAreRefusedByNameAndLeftOutOfAll) {
    const OffsetCommitRequest commit{
        .group_id = "simple",
        .generation_id_or_member_epoch = -1,
        .topics = one(OffsetCommitRequest::Topic{.topic_id = topic_id_,
                                                 .partitions = one(OffsetCommitRequest::Partition{.committed_offset = 7})})};
    const auto* committed = client_->call<OffsetCommitResponse>(10, commit);
    ASSERT_NE(committed, nullptr) << client_->failure();
    ASSERT_EQ(committed->topics[0].partitions[0].error_code, ErrorCode::none);
    const auto offsets_of = [&](std::int16_t version, bool all) {
        OffsetFetchRequest request;
        if (version < 8) {
            request.group_id = "simple";
            request.topics = all ? Array<OffsetFetchRequest::Topic>(nullptr)
                                 : one(OffsetFetchRequest::Topic{.name = kTopic, .partition_indexes = one(0)});
        } else {
            request.groups = one(OffsetFetchRequest::Group{
                .group_id = "simple",
                .topics = all ? Array<OffsetFetchRequest::Topics>(nullptr)
                              : one(OffsetFetchRequest::Topics{.name = kTopic, .partition_indexes = one(0)})});
        }
        const auto* reply = client_->call<OffsetFetchResponse>(version, request);
        return reply == nullptr ? client_->failure() : to_text(*reply, version);
    };
    for (const std::int16_t version : {7, 9}) {
        rules_.set(true);
        EXPECT_NE(offsets_of(version, true).find("CommittedOffset: 7"), std::string::npos) << offsets_of(version, true);
        EXPECT_NE(offsets_of(version, false).find("CommittedOffset: 7"), std::string::npos) << offsets_of(version, false);
        rules_.set(true, {access::kDescribeTopic});
        EXPECT_EQ(offsets_of(version, true).find("\"t\""), std::string::npos) << offsets_of(version, true);
        const std::string refused = offsets_of(version, false);
        EXPECT_NE(refused.find("ErrorCode: 29"), std::string::npos) << refused;
        EXPECT_EQ(refused.find("CommittedOffset: 7"), std::string::npos) << refused;
    }
}

TEST_F(AccessRules, WhoMayCreateATopicButNotDescribeItsConfigsIsToldOfNone) {
    rules_.set(true, {access::kDescribeTopicConfigs});
    const CreateTopicsRequest create{
        .topics = one(CreateTopicsRequest::CreatableTopic{.name = "v", .num_partitions = 1, .replication_factor = 1})};
    const std::string created = answer(api_of<CreateTopicsRequest>(), &create);
    EXPECT_NE(created.find("TopicConfigErrorCode: 29"), std::string::npos) << created;
    EXPECT_NE(created.find("NumPartitions: -1"), std::string::npos) << created;
    EXPECT_NE(broker_->services().topics.table()->find("v"), nullptr);
}

TEST_F(AccessRules, OperationsThatRepliesTellOfAreThoseThatTheRulesAllow) {
    const MetadataRequest metadata{.topics = one(MetadataRequest::Topic{.name = kTopic}),
                                   .include_topic_authorized_operations = true};
    const DescribeClusterRequest cluster{.include_cluster_authorized_operations = true};
    const auto told = [&] {
        const auto* topics = client_->call<MetadataResponse>(13, metadata);
        const std::int32_t of_topic = topics == nullptr ? -1 : topics->topics[0].topic_authorized_operations;
        const auto* described = client_->call<DescribeClusterResponse>(2, cluster);
        return std::pair{of_topic, described == nullptr ? -1 : described->cluster_authorized_operations};
    };
    const std::int32_t all = access::all_operation_bits(access::ResourceType::topic);
    const std::int32_t all_of_cluster = access::all_operation_bits(access::ResourceType::cluster);
    EXPECT_EQ(told(), std::pair(all, all_of_cluster));
    rules_.set(true, {access::kAlterTopic});
    EXPECT_EQ(told(), std::pair(all & ~access::operation_bit(access::Operation::alter), all_of_cluster));
    rules_.set(true, {access::kDescribeCluster});
    EXPECT_EQ(told(), std::pair(all, 0));
}

}  // namespace
}  // namespace partita::test
