#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "broker/access/permission.h"
#include "broker/handlers/request_context.h"
#include "protocol/api_keys.h"

namespace partita::handlers {

/// Serves one request: decodes it, acts, and then answers, defers, parks or closes (see RequestContext).
using Handler = void (*)(runtime::RequestContext& context);

/// The permissions that requests of an API may need, in the order in which handlers ask for them. They ask for no other.
class Needs {
  public:
    static constexpr std::size_t kMax = 3;

    template <class... Each>
        requires(sizeof...(Each) <= kMax)
    constexpr Needs(Each... needs)
        : needs_{access::Need(needs)...}, count_(sizeof...(Each)) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] constexpr const access::Need* begin() const { return needs_.data(); }
    [[nodiscard]] constexpr const access::Need* end() const { return needs_.data() + count_; }
    [[nodiscard]] constexpr bool empty() const { return count_ == 0; }

  private:
    std::array<access::Need, kMax> needs_;
    std::size_t count_;
};

/// One API that this broker serves. docs/apis.md shows the same rows.
struct ServedApi {
    ApiKey key;
    Handler handler;
    /// What the client must be allowed to do. The handler asks each of them for every resource that the request names or that the
    /// answer would tell of, or only where the request needs it (WRITE TRANSACTIONAL_ID of a producer that has such an id). Empty
    /// where Kafka asks for nothing: for APIs that come before authentication, and for tokens, about which their owners decide.
    Needs needs;

    /// The API with its versions: all that Apache Kafka 4.3.1 accepts.
    [[nodiscard]] const ApiInfo& api() const { return *find_api(key); }
};

/// All served APIs, ascending by key: what ApiVersions advertises, and nothing else.
[[nodiscard]] std::span<const ServedApi> served_apis();
/// Null for an API that is not served.
[[nodiscard]] const ServedApi* find_served_api(ApiKey key);

/// Passes a request to the handler of its API, which its parsed header names. A request of an API that this broker does not serve
/// closes the connection, as Kafka does with a key it does not know.
void dispatch(runtime::RequestContext& context);

// The handlers, one per file NN_name.cc.
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
void add_partitions_to_txn(runtime::RequestContext& context);
void add_offsets_to_txn(runtime::RequestContext& context);
void end_txn(runtime::RequestContext& context);
void write_txn_markers(runtime::RequestContext& context);
void txn_offset_commit(runtime::RequestContext& context);
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
