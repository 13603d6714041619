#include "broker/handlers/registry.h"

#include <algorithm>
#include <array>

#include "broker/runtime/broker.h"

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
    ServedApi{ApiKey::api_versions, api_versions},
    ServedApi{ApiKey::create_topics, create_topics},
    ServedApi{ApiKey::delete_topics, delete_topics},
    ServedApi{ApiKey::delete_records, delete_records},
    ServedApi{ApiKey::init_producer_id, init_producer_id},
    ServedApi{ApiKey::offset_for_leader_epoch, offset_for_leader_epoch},
    ServedApi{ApiKey::describe_configs, describe_configs},
    ServedApi{ApiKey::alter_configs, alter_configs},
    ServedApi{ApiKey::create_partitions, create_partitions},
    ServedApi{ApiKey::delete_groups, delete_groups},
    ServedApi{ApiKey::incremental_alter_configs, incremental_alter_configs},
    ServedApi{ApiKey::list_partition_reassignments, list_partition_reassignments},
    ServedApi{ApiKey::offset_delete, offset_delete},
    ServedApi{ApiKey::describe_cluster, describe_cluster},
    ServedApi{ApiKey::describe_topic_partitions, describe_topic_partitions},
};

static_assert(std::ranges::is_sorted(kServedApis, {}, &ServedApi::key));

}  // namespace

std::span<const ServedApi> served_apis() { return kServedApis; }

void dispatch(runtime::RequestContext& context) {
    context.broker.counters().requests.fetch_add(1, std::memory_order_relaxed);
    const auto served = std::ranges::lower_bound(kServedApis, context.api_key(), {}, &ServedApi::key);
    if (served == kServedApis.end() || served->key != context.api_key()) {
        context.close_connection("request " + std::string(context.api().name) + " is not served by this broker");
        return;
    }
    served->handler(context);
}

}  // namespace partita::handlers
