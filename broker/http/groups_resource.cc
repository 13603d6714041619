// GET /v1/topics/T/groups: the groups that read the topic and that the caller may describe, with how far they have read it.

#include <nlohmann/json.hpp>

#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/resources.h"
#include "broker/insight/findings/finding_json.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/queries/group_lags.h"

namespace partita::http {
namespace {

using nlohmann::ordered_json;

ordered_json group_json(const runtime::GroupLag& group) {
    ordered_json object;
    object["group"] = insight::name_text(group.group_id);
    object["members"] = group.members;
    object["lag"] = group.total();
    object["partitions"] = ordered_json::array();
    for (const runtime::PartitionLag& partition : group.partitions) {
        object["partitions"].push_back(
            {{"partition", partition.partition.value},
             {"committed", partition.committed ? ordered_json(partition.committed->value) : ordered_json(nullptr)},
             {"end", partition.log_end.value},
             {"lag", partition.lag ? ordered_json(*partition.lag) : ordered_json(nullptr)}});
    }
    return object;
}

}  // namespace

void serve_groups(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto topic = topic_of(surroundings, exchange);
    if (topic == nullptr) {
        return;
    }
    // On another thread, because the time grows with groups and partitions.
    const auto look = [&services = surroundings.services, &identity = surroundings.identity, exchange, topic] {
        ordered_json object;
        object["schema"] = 1;
        object["broker"] = identity.json();
        object["topic"] = topic->topic->name;
        // False while groups are being rebuilt from the log: the list then lacks them.
        object["complete"] = services.coordinators.groups.is_complete();
        object["groups"] = ordered_json::array();
        for (const runtime::GroupLag& group : runtime::group_lags(services.coordinators.groups, *topic)) {
            if (services.authorizer.meets(exchange->caller().requester(), access::kDescribeGroupOrCluster, group.group_id)) {
                object["groups"].push_back(group_json(group));
            }
        }
        exchange->respond(Status::ok, kJson, object.dump() + "\n");
    };
    start_look(surroundings, exchange, look);
}

}  // namespace partita::http
