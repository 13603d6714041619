#include "broker/handlers/registry.h"

#include <algorithm>
#include <array>

#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/runtime/clients/client_throttles.h"
#include "broker/runtime/loop/counters.h"

namespace partita::handlers {
namespace {

constexpr std::array kServedApis = {
    ServedApi{ApiKey::produce, produce},
    ServedApi{ApiKey::fetch, fetch},
    ServedApi{ApiKey::list_offsets, list_offsets},
    ServedApi{ApiKey::metadata, metadata},
    ServedApi{ApiKey::offset_commit, offset_commit},
    ServedApi{ApiKey::offset_fetch, offset_fetch},
    ServedApi{ApiKey::find_coordinator, find_coordinator},
    ServedApi{ApiKey::join_group, join_group},
    ServedApi{ApiKey::heartbeat, heartbeat},
    ServedApi{ApiKey::leave_group, leave_group},
    ServedApi{ApiKey::sync_group, sync_group},
    ServedApi{ApiKey::describe_groups, describe_groups},
    ServedApi{ApiKey::list_groups, list_groups},
    ServedApi{ApiKey::sasl_handshake, sasl_handshake},
    ServedApi{ApiKey::api_versions, api_versions},
    ServedApi{ApiKey::create_topics, create_topics},
    ServedApi{ApiKey::delete_topics, delete_topics},
    ServedApi{ApiKey::delete_records, delete_records},
    ServedApi{ApiKey::init_producer_id, init_producer_id},
    ServedApi{ApiKey::offset_for_leader_epoch, offset_for_leader_epoch},
    ServedApi{ApiKey::describe_acls, describe_acls},
    ServedApi{ApiKey::create_acls, create_acls},
    ServedApi{ApiKey::delete_acls, delete_acls},
    ServedApi{ApiKey::describe_configs, describe_configs},
    ServedApi{ApiKey::alter_configs, alter_configs},
    ServedApi{ApiKey::alter_replica_log_dirs, alter_replica_log_dirs},
    ServedApi{ApiKey::describe_log_dirs, describe_log_dirs},
    ServedApi{ApiKey::sasl_authenticate, sasl_authenticate},
    ServedApi{ApiKey::create_partitions, create_partitions},
    ServedApi{ApiKey::create_delegation_token, create_delegation_token},
    ServedApi{ApiKey::renew_delegation_token, renew_delegation_token},
    ServedApi{ApiKey::expire_delegation_token, expire_delegation_token},
    ServedApi{ApiKey::describe_delegation_token, describe_delegation_token},
    ServedApi{ApiKey::delete_groups, delete_groups},
    ServedApi{ApiKey::elect_leaders, elect_leaders},
    ServedApi{ApiKey::incremental_alter_configs, incremental_alter_configs},
    ServedApi{ApiKey::alter_partition_reassignments, alter_partition_reassignments},
    ServedApi{ApiKey::list_partition_reassignments, list_partition_reassignments},
    ServedApi{ApiKey::offset_delete, offset_delete},
    ServedApi{ApiKey::describe_client_quotas, describe_client_quotas},
    ServedApi{ApiKey::alter_client_quotas, alter_client_quotas},
    ServedApi{ApiKey::describe_user_scram_credentials, describe_user_scram_credentials},
    ServedApi{ApiKey::alter_user_scram_credentials, alter_user_scram_credentials},
    ServedApi{ApiKey::describe_quorum, describe_quorum},
    ServedApi{ApiKey::update_features, update_features},
    ServedApi{ApiKey::describe_cluster, describe_cluster},
    ServedApi{ApiKey::describe_producers, describe_producers},
    ServedApi{ApiKey::unregister_broker, unregister_broker},
    ServedApi{ApiKey::describe_transactions, describe_transactions},
    ServedApi{ApiKey::list_transactions, list_transactions},
    ServedApi{ApiKey::consumer_group_heartbeat, consumer_group_heartbeat},
    ServedApi{ApiKey::consumer_group_describe, consumer_group_describe},
    ServedApi{ApiKey::list_config_resources, list_config_resources},
    ServedApi{ApiKey::describe_topic_partitions, describe_topic_partitions},
    ServedApi{ApiKey::add_raft_voter, add_raft_voter},
    ServedApi{ApiKey::remove_raft_voter, remove_raft_voter},
};

static_assert(std::ranges::is_sorted(kServedApis, {}, &ServedApi::key));

}  // namespace

std::span<const ServedApi> served_apis() { return kServedApis; }

void dispatch(runtime::RequestContext& context) {
    context.services.counters.requests.fetch_add(1, std::memory_order_relaxed);
    const auto served = std::ranges::lower_bound(kServedApis, context.api_key(), {}, &ServedApi::key);
    if (served == kServedApis.end() || served->key != context.api_key()) {
        context.close_connection("request " + std::string(context.api().name) + " is not served by this broker");
        return;
    }
    if (context.services.throttles.limits(runtime::Throttled::request_time)) [[unlikely]] {
        context.measure_time();
    }
    served->handler(context);
}

}  // namespace partita::handlers
