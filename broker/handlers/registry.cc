#include "broker/handlers/registry.h"

#include <algorithm>
#include <array>

#include "broker/handlers/access_audit.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_deletion.h"
#include "broker/runtime/clients/client_throttles.h"
#include "broker/runtime/clients/request_watch.h"

namespace partita::handlers {
namespace {

using namespace access;

constexpr std::array kServedApis = {
    ServedApi{ApiKey::produce, produce, {kWriteTransactionalId, kWriteTopic}},
    ServedApi{ApiKey::fetch, fetch, {kReadTopic, kClusterAction}},
    ServedApi{ApiKey::list_offsets, list_offsets, {kDescribeTopic}},
    ServedApi{ApiKey::metadata, metadata, {kDescribeTopic, kCreateTopicOrInCluster, kDescribeCluster}},
    ServedApi{ApiKey::offset_commit, offset_commit, {kReadGroup, kReadTopic}},
    ServedApi{ApiKey::offset_fetch, offset_fetch, {kDescribeGroup, kDescribeTopic}},
    ServedApi{ApiKey::find_coordinator, find_coordinator, {kDescribeGroup, kDescribeTransactionalId}},
    ServedApi{ApiKey::join_group, join_group, {kReadGroup, kDescribeTopic}},
    ServedApi{ApiKey::heartbeat, heartbeat, {kReadGroup}},
    ServedApi{ApiKey::leave_group, leave_group, {kReadGroup}},
    ServedApi{ApiKey::sync_group, sync_group, {kReadGroup}},
    ServedApi{ApiKey::describe_groups, describe_groups, {kDescribeGroup}},
    ServedApi{ApiKey::list_groups, list_groups, {kDescribeGroupOrCluster}},
    ServedApi{ApiKey::sasl_handshake, sasl_handshake, {}},
    ServedApi{ApiKey::api_versions, api_versions, {}},
    ServedApi{ApiKey::create_topics, create_topics, {kCreateTopicOrInCluster, kDescribeTopicConfigs}},
    ServedApi{ApiKey::delete_topics, delete_topics, {kDescribeTopic, kDeleteTopicOrInCluster}},
    ServedApi{ApiKey::delete_records, delete_records, {kDeleteTopic}},
    ServedApi{ApiKey::init_producer_id,
              init_producer_id,
              {kWriteTransactionalId, kTwoPhaseCommitTransactionalId, kWriteTopicOrIdempotently}},
    ServedApi{ApiKey::offset_for_leader_epoch, offset_for_leader_epoch, {kDescribeTopicOrClusterAction}},
    ServedApi{ApiKey::add_partitions_to_txn, add_partitions_to_txn, {kWriteTransactionalId, kWriteTopic, kClusterAction}},
    ServedApi{ApiKey::add_offsets_to_txn, add_offsets_to_txn, {kWriteTransactionalId, kReadGroup}},
    ServedApi{ApiKey::end_txn, end_txn, {kWriteTransactionalId}},
    ServedApi{ApiKey::write_txn_markers, write_txn_markers, {kAlterClusterOrClusterAction}},
    ServedApi{ApiKey::txn_offset_commit, txn_offset_commit, {kWriteTransactionalId, kReadGroup, kReadTopic}},
    ServedApi{ApiKey::describe_acls, describe_acls, {kDescribeCluster}},
    ServedApi{ApiKey::create_acls, create_acls, {kAlterCluster}},
    ServedApi{ApiKey::delete_acls, delete_acls, {kAlterCluster}},
    ServedApi{
        ApiKey::describe_configs, describe_configs, {kDescribeClusterConfigs, kDescribeTopicConfigs, kDescribeGroupConfigs}},
    ServedApi{ApiKey::alter_configs, alter_configs, {kAlterClusterConfigs, kAlterTopicConfigs, kAlterGroupConfigs}},
    ServedApi{ApiKey::alter_replica_log_dirs, alter_replica_log_dirs, {kAlterCluster}},
    ServedApi{ApiKey::describe_log_dirs, describe_log_dirs, {kDescribeCluster}},
    ServedApi{ApiKey::sasl_authenticate, sasl_authenticate, {}},
    ServedApi{ApiKey::create_partitions, create_partitions, {kAlterTopic}},
    ServedApi{ApiKey::create_delegation_token, create_delegation_token, {kCreateTokensOfUser}},
    ServedApi{ApiKey::renew_delegation_token, renew_delegation_token, {}},
    ServedApi{ApiKey::expire_delegation_token, expire_delegation_token, {}},
    ServedApi{ApiKey::describe_delegation_token, describe_delegation_token, {kDescribeToken, kDescribeTokensOfUser}},
    ServedApi{ApiKey::delete_groups, delete_groups, {kDeleteGroup}},
    ServedApi{ApiKey::elect_leaders, elect_leaders, {kAlterCluster}},
    ServedApi{ApiKey::incremental_alter_configs,
              incremental_alter_configs,
              {kAlterClusterConfigs, kAlterTopicConfigs, kAlterGroupConfigs}},
    ServedApi{ApiKey::alter_partition_reassignments, alter_partition_reassignments, {kAlterCluster}},
    ServedApi{ApiKey::list_partition_reassignments, list_partition_reassignments, {kDescribeCluster}},
    ServedApi{ApiKey::offset_delete, offset_delete, {kDeleteGroup, kReadTopic}},
    ServedApi{ApiKey::describe_client_quotas, describe_client_quotas, {kDescribeClusterConfigs}},
    ServedApi{ApiKey::alter_client_quotas, alter_client_quotas, {kAlterClusterConfigs}},
    ServedApi{ApiKey::describe_user_scram_credentials, describe_user_scram_credentials, {kDescribeCluster}},
    ServedApi{ApiKey::alter_user_scram_credentials, alter_user_scram_credentials, {kAlterCluster}},
    ServedApi{ApiKey::describe_quorum, describe_quorum, {kDescribeCluster}},
    ServedApi{ApiKey::update_features, update_features, {kAlterCluster}},
    ServedApi{ApiKey::describe_cluster, describe_cluster, {kDescribeCluster}},
    ServedApi{ApiKey::describe_producers, describe_producers, {kReadTopic}},
    ServedApi{ApiKey::unregister_broker, unregister_broker, {kAlterCluster}},
    ServedApi{ApiKey::describe_transactions, describe_transactions, {kDescribeTransactionalId, kDescribeTopic}},
    ServedApi{ApiKey::list_transactions, list_transactions, {kDescribeTransactionalId}},
    ServedApi{ApiKey::consumer_group_heartbeat, consumer_group_heartbeat, {kReadGroup, kDescribeTopic}},
    ServedApi{ApiKey::consumer_group_describe, consumer_group_describe, {kDescribeGroup, kDescribeTopic}},
    ServedApi{ApiKey::list_config_resources, list_config_resources, {kDescribeClusterConfigs}},
    ServedApi{ApiKey::describe_topic_partitions, describe_topic_partitions, {kDescribeTopic}},
    ServedApi{ApiKey::add_raft_voter, add_raft_voter, {kAlterCluster}},
    ServedApi{ApiKey::remove_raft_voter, remove_raft_voter, {kAlterCluster}},
};

static_assert(std::ranges::is_sorted(kServedApis, {}, &ServedApi::key));

}  // namespace

std::span<const ServedApi> served_apis() { return kServedApis; }

const ServedApi* find_served_api(ApiKey key) {
    const auto served = std::ranges::lower_bound(kServedApis, key, {}, &ServedApi::key);
    return served == kServedApis.end() || served->key != key ? nullptr : &*served;
}

void dispatch(runtime::RequestContext& context) {
    runtime::RequestWatch& watch = context.services.requests;
    watch.count(context.api_key());
    if (access::Usage* const usage = context.principal().usage()) {
        usage->requests.fetch_add(1, std::memory_order_relaxed);
    }
    if (watch.is_watched(context.now().monotonic)) [[unlikely]] {
        context.measure_latency();
    }
    const ServedApi* served = find_served_api(context.api_key());
    if (served == nullptr) {
        context.close_connection("request " + std::string(context.api().name) + " is not served by this broker");
        return;
    }
    if (context.services.throttles.limits(runtime::Throttled::request_time)) [[unlikely]] {
        context.measure_time();
    }
    served->handler(context);
    if (!context.services.authorizer.allows_everything()) {
        write_access_audit(context);
    }
}

}  // namespace partita::handlers
