#include "protocol/api_keys.h"

#include <array>

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
#include "protocol/messages/17_sasl_handshake.h"
#include "protocol/messages/18_api_versions.h"
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
#include "protocol/messages/36_sasl_authenticate.h"
#include "protocol/messages/37_create_partitions.h"
#include "protocol/messages/38_create_delegation_token.h"
#include "protocol/messages/39_renew_delegation_token.h"
#include "protocol/messages/40_expire_delegation_token.h"
#include "protocol/messages/41_describe_delegation_token.h"
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
#include "protocol/messages/71_get_telemetry_subscriptions.h"
#include "protocol/messages/72_push_telemetry.h"
#include "protocol/messages/74_list_config_resources.h"
#include "protocol/messages/75_describe_topic_partitions.h"
#include "protocol/messages/76_share_group_heartbeat.h"
#include "protocol/messages/77_share_group_describe.h"
#include "protocol/messages/78_share_fetch.h"
#include "protocol/messages/79_share_acknowledge.h"
#include "protocol/messages/80_add_raft_voter.h"
#include "protocol/messages/81_remove_raft_voter.h"
#include "protocol/messages/88_streams_group_heartbeat.h"
#include "protocol/messages/89_streams_group_describe.h"
#include "protocol/messages/90_describe_share_group_offsets.h"
#include "protocol/messages/91_alter_share_group_offsets.h"
#include "protocol/messages/92_delete_share_group_offsets.h"

namespace partita {
namespace {

/// Versions, flexibility and tables follow from the messages, so that they are stated once.
template <class Request, class Response>
ApiInfo api(ApiKey key, std::string_view name, bool latest_unstable = false) {
    return {.key = key,
            .name = name,
            .versions = Request::schema.versions,
            .latest_unstable = latest_unstable,
            .first_flexible = Request::schema.first_flexible,
            .request = &Request::schema,
            .response = &Response::schema};
}

// clang-format off
const std::array kApis{
    api<ProduceRequest, ProduceResponse>(ApiKey::produce, "Produce"),
    api<FetchRequest, FetchResponse>(ApiKey::fetch, "Fetch"),
    api<ListOffsetsRequest, ListOffsetsResponse>(ApiKey::list_offsets, "ListOffsets"),
    api<MetadataRequest, MetadataResponse>(ApiKey::metadata, "Metadata"),
    api<OffsetCommitRequest, OffsetCommitResponse>(ApiKey::offset_commit, "OffsetCommit"),
    api<OffsetFetchRequest, OffsetFetchResponse>(ApiKey::offset_fetch, "OffsetFetch"),
    api<FindCoordinatorRequest, FindCoordinatorResponse>(ApiKey::find_coordinator, "FindCoordinator"),
    api<JoinGroupRequest, JoinGroupResponse>(ApiKey::join_group, "JoinGroup"),
    api<HeartbeatRequest, HeartbeatResponse>(ApiKey::heartbeat, "Heartbeat"),
    api<LeaveGroupRequest, LeaveGroupResponse>(ApiKey::leave_group, "LeaveGroup"),
    api<SyncGroupRequest, SyncGroupResponse>(ApiKey::sync_group, "SyncGroup"),
    api<DescribeGroupsRequest, DescribeGroupsResponse>(ApiKey::describe_groups, "DescribeGroups"),
    api<ListGroupsRequest, ListGroupsResponse>(ApiKey::list_groups, "ListGroups"),
    api<SaslHandshakeRequest, SaslHandshakeResponse>(ApiKey::sasl_handshake, "SaslHandshake"),
    api<ApiVersionsRequest, ApiVersionsResponse>(ApiKey::api_versions, "ApiVersions"),
    api<CreateTopicsRequest, CreateTopicsResponse>(ApiKey::create_topics, "CreateTopics"),
    api<DeleteTopicsRequest, DeleteTopicsResponse>(ApiKey::delete_topics, "DeleteTopics"),
    api<DeleteRecordsRequest, DeleteRecordsResponse>(ApiKey::delete_records, "DeleteRecords"),
    api<InitProducerIdRequest, InitProducerIdResponse>(ApiKey::init_producer_id, "InitProducerId", true),
    api<OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse>(ApiKey::offset_for_leader_epoch, "OffsetForLeaderEpoch"),
    api<AddPartitionsToTxnRequest, AddPartitionsToTxnResponse>(ApiKey::add_partitions_to_txn, "AddPartitionsToTxn"),
    api<AddOffsetsToTxnRequest, AddOffsetsToTxnResponse>(ApiKey::add_offsets_to_txn, "AddOffsetsToTxn"),
    api<EndTxnRequest, EndTxnResponse>(ApiKey::end_txn, "EndTxn"),
    api<WriteTxnMarkersRequest, WriteTxnMarkersResponse>(ApiKey::write_txn_markers, "WriteTxnMarkers"),
    api<TxnOffsetCommitRequest, TxnOffsetCommitResponse>(ApiKey::txn_offset_commit, "TxnOffsetCommit"),
    api<DescribeAclsRequest, DescribeAclsResponse>(ApiKey::describe_acls, "DescribeAcls"),
    api<CreateAclsRequest, CreateAclsResponse>(ApiKey::create_acls, "CreateAcls"),
    api<DeleteAclsRequest, DeleteAclsResponse>(ApiKey::delete_acls, "DeleteAcls"),
    api<DescribeConfigsRequest, DescribeConfigsResponse>(ApiKey::describe_configs, "DescribeConfigs"),
    api<AlterConfigsRequest, AlterConfigsResponse>(ApiKey::alter_configs, "AlterConfigs"),
    api<AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse>(ApiKey::alter_replica_log_dirs, "AlterReplicaLogDirs"),
    api<DescribeLogDirsRequest, DescribeLogDirsResponse>(ApiKey::describe_log_dirs, "DescribeLogDirs"),
    api<SaslAuthenticateRequest, SaslAuthenticateResponse>(ApiKey::sasl_authenticate, "SaslAuthenticate"),
    api<CreatePartitionsRequest, CreatePartitionsResponse>(ApiKey::create_partitions, "CreatePartitions"),
    api<CreateDelegationTokenRequest, CreateDelegationTokenResponse>(ApiKey::create_delegation_token, "CreateDelegationToken"),
    api<RenewDelegationTokenRequest, RenewDelegationTokenResponse>(ApiKey::renew_delegation_token, "RenewDelegationToken"),
    api<ExpireDelegationTokenRequest, ExpireDelegationTokenResponse>(ApiKey::expire_delegation_token, "ExpireDelegationToken"),
    api<DescribeDelegationTokenRequest, DescribeDelegationTokenResponse>(ApiKey::describe_delegation_token, "DescribeDelegationToken"),
    api<DeleteGroupsRequest, DeleteGroupsResponse>(ApiKey::delete_groups, "DeleteGroups"),
    api<ElectLeadersRequest, ElectLeadersResponse>(ApiKey::elect_leaders, "ElectLeaders"),
    api<IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse>(ApiKey::incremental_alter_configs, "IncrementalAlterConfigs"),
    api<AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse>(ApiKey::alter_partition_reassignments, "AlterPartitionReassignments"),
    api<ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse>(ApiKey::list_partition_reassignments, "ListPartitionReassignments"),
    api<OffsetDeleteRequest, OffsetDeleteResponse>(ApiKey::offset_delete, "OffsetDelete"),
    api<DescribeClientQuotasRequest, DescribeClientQuotasResponse>(ApiKey::describe_client_quotas, "DescribeClientQuotas"),
    api<AlterClientQuotasRequest, AlterClientQuotasResponse>(ApiKey::alter_client_quotas, "AlterClientQuotas"),
    api<DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse>(ApiKey::describe_user_scram_credentials, "DescribeUserScramCredentials"),
    api<AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse>(ApiKey::alter_user_scram_credentials, "AlterUserScramCredentials"),
    api<DescribeQuorumRequest, DescribeQuorumResponse>(ApiKey::describe_quorum, "DescribeQuorum"),
    api<UpdateFeaturesRequest, UpdateFeaturesResponse>(ApiKey::update_features, "UpdateFeatures"),
    api<DescribeClusterRequest, DescribeClusterResponse>(ApiKey::describe_cluster, "DescribeCluster"),
    api<DescribeProducersRequest, DescribeProducersResponse>(ApiKey::describe_producers, "DescribeProducers"),
    api<UnregisterBrokerRequest, UnregisterBrokerResponse>(ApiKey::unregister_broker, "UnregisterBroker"),
    api<DescribeTransactionsRequest, DescribeTransactionsResponse>(ApiKey::describe_transactions, "DescribeTransactions"),
    api<ListTransactionsRequest, ListTransactionsResponse>(ApiKey::list_transactions, "ListTransactions"),
    api<ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse>(ApiKey::consumer_group_heartbeat, "ConsumerGroupHeartbeat"),
    api<ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse>(ApiKey::consumer_group_describe, "ConsumerGroupDescribe"),
    api<GetTelemetrySubscriptionsRequest, GetTelemetrySubscriptionsResponse>(ApiKey::get_telemetry_subscriptions, "GetTelemetrySubscriptions"),
    api<PushTelemetryRequest, PushTelemetryResponse>(ApiKey::push_telemetry, "PushTelemetry"),
    api<ListConfigResourcesRequest, ListConfigResourcesResponse>(ApiKey::list_config_resources, "ListConfigResources"),
    api<DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse>(ApiKey::describe_topic_partitions, "DescribeTopicPartitions"),
    api<ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse>(ApiKey::share_group_heartbeat, "ShareGroupHeartbeat"),
    api<ShareGroupDescribeRequest, ShareGroupDescribeResponse>(ApiKey::share_group_describe, "ShareGroupDescribe"),
    api<ShareFetchRequest, ShareFetchResponse>(ApiKey::share_fetch, "ShareFetch"),
    api<ShareAcknowledgeRequest, ShareAcknowledgeResponse>(ApiKey::share_acknowledge, "ShareAcknowledge"),
    api<AddRaftVoterRequest, AddRaftVoterResponse>(ApiKey::add_raft_voter, "AddRaftVoter"),
    api<RemoveRaftVoterRequest, RemoveRaftVoterResponse>(ApiKey::remove_raft_voter, "RemoveRaftVoter"),
    api<StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse>(ApiKey::streams_group_heartbeat, "StreamsGroupHeartbeat"),
    api<StreamsGroupDescribeRequest, StreamsGroupDescribeResponse>(ApiKey::streams_group_describe, "StreamsGroupDescribe"),
    api<DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsResponse>(ApiKey::describe_share_group_offsets, "DescribeShareGroupOffsets"),
    api<AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse>(ApiKey::alter_share_group_offsets, "AlterShareGroupOffsets"),
    api<DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse>(ApiKey::delete_share_group_offsets, "DeleteShareGroupOffsets"),
};
// clang-format on

constexpr std::int16_t kHighestKey = 127;

/// Row number by key, so that the lookup on every request is one load.
const std::array<const ApiInfo*, kHighestKey + 1> kByKey = [] {
    std::array<const ApiInfo*, kHighestKey + 1> by_key{};
    for (const ApiInfo& info : kApis) {
        by_key[static_cast<std::size_t>(info.key)] = &info;
    }
    return by_key;
}();

}  // namespace

std::span<const ApiInfo> all_apis() { return kApis; }

const ApiInfo* find_api(std::int16_t key) {
    return key < 0 || key > kHighestKey ? nullptr : kByKey[static_cast<std::size_t>(key)];
}

std::string_view api_name(ApiKey key) {
    const ApiInfo* info = find_api(key);
    return info == nullptr ? "?" : info->name;
}

std::int16_t request_header_version(const ApiInfo& api, std::int16_t version) { return version >= api.first_flexible ? 2 : 1; }

std::int16_t response_header_version(const ApiInfo& api, std::int16_t version) {
    if (api.key == ApiKey::api_versions) {
        return 0;
    }
    return version >= api.first_flexible ? 1 : 0;
}

}  // namespace partita
