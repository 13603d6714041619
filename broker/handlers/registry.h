#pragma once

#include <span>

#include "broker/handlers/request_context.h"
#include "protocol/api_keys.h"

namespace partita::handlers {

/// Serves one request: decodes it, acts, and answers, defers or closes (see RequestContext).
using Handler = void (*)(runtime::RequestContext& context);

/// One API that this broker serves. Its versions are all that Apache Kafka 4.3.1 accepts.
struct ServedApi {
    ApiKey key;
    Handler handler;
};

/// All served APIs, ascending by key: what ApiVersions advertises, and nothing else.
[[nodiscard]] std::span<const ServedApi> served_apis();

/// Serves a request of a key that its header was parsed with. A request that this broker does not
/// serve closes the connection, as Kafka does with a key it does not know.
void dispatch(runtime::RequestContext& context);

// One per file NN_name.cc.
void produce(runtime::RequestContext& context);
void fetch(runtime::RequestContext& context);
void list_offsets(runtime::RequestContext& context);
void metadata(runtime::RequestContext& context);
void offset_commit(runtime::RequestContext& context);
void offset_fetch(runtime::RequestContext& context);
void find_coordinator(runtime::RequestContext& context);
void join_group(runtime::RequestContext& context);
void heartbeat(runtime::RequestContext& context);
void leave_group(runtime::RequestContext& context);
void sync_group(runtime::RequestContext& context);
void describe_groups(runtime::RequestContext& context);
void list_groups(runtime::RequestContext& context);
void api_versions(runtime::RequestContext& context);
void create_topics(runtime::RequestContext& context);
void delete_topics(runtime::RequestContext& context);
void delete_records(runtime::RequestContext& context);
void init_producer_id(runtime::RequestContext& context);
void offset_for_leader_epoch(runtime::RequestContext& context);
void describe_configs(runtime::RequestContext& context);
void alter_configs(runtime::RequestContext& context);
void create_partitions(runtime::RequestContext& context);
void delete_groups(runtime::RequestContext& context);
void incremental_alter_configs(runtime::RequestContext& context);
void offset_delete(runtime::RequestContext& context);
void describe_cluster(runtime::RequestContext& context);
void list_partition_reassignments(runtime::RequestContext& context);
void describe_topic_partitions(runtime::RequestContext& context);
void sasl_handshake(runtime::RequestContext& context);
void describe_acls(runtime::RequestContext& context);
void create_acls(runtime::RequestContext& context);
void delete_acls(runtime::RequestContext& context);
void alter_replica_log_dirs(runtime::RequestContext& context);
void describe_log_dirs(runtime::RequestContext& context);
void sasl_authenticate(runtime::RequestContext& context);
void create_delegation_token(runtime::RequestContext& context);
void renew_delegation_token(runtime::RequestContext& context);
void expire_delegation_token(runtime::RequestContext& context);
void describe_delegation_token(runtime::RequestContext& context);
void elect_leaders(runtime::RequestContext& context);
void alter_partition_reassignments(runtime::RequestContext& context);
void describe_quorum(runtime::RequestContext& context);
void describe_producers(runtime::RequestContext& context);
void unregister_broker(runtime::RequestContext& context);
void describe_transactions(runtime::RequestContext& context);
void list_transactions(runtime::RequestContext& context);
void describe_client_quotas(runtime::RequestContext& context);
void alter_client_quotas(runtime::RequestContext& context);
void describe_user_scram_credentials(runtime::RequestContext& context);
void alter_user_scram_credentials(runtime::RequestContext& context);
void update_features(runtime::RequestContext& context);
void consumer_group_heartbeat(runtime::RequestContext& context);
void consumer_group_describe(runtime::RequestContext& context);
void list_config_resources(runtime::RequestContext& context);
void add_raft_voter(runtime::RequestContext& context);
void remove_raft_voter(runtime::RequestContext& context);

}  // namespace partita::handlers
