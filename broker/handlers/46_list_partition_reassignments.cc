// ListPartitionReassignments: v0, flexible.
//
// One broker has nowhere to move a replica to, so its list is always empty. Several brokers move a replica at once, unless it has
// to go to a dead one. kafka-topics --describe sends this request.

#include "protocol/messages/46_list_partition_reassignments.h"
#include <algorithm>
#include "broker/handlers/authorize.h"
#include "broker/handlers/cluster_refusal.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/placement.h"
#include "broker/logs/turn.h"

namespace partita::handlers {

PARTITA_SERVES(list_partition_reassignments, access::kDescribeCluster);

namespace {

/// The requested partitions, each without replicas: a refusal repeats them, as in Kafka.
Array<ListPartitionReassignmentsResponse::OngoingTopicReassignment> as_asked(const ListPartitionReassignmentsRequest& request,
                                                                             Arena& arena) {
    ArenaVector<ListPartitionReassignmentsResponse::OngoingTopicReassignment> topics(arena);
    for (const auto& asked : request.topics) {
        ArenaVector<ListPartitionReassignmentsResponse::OngoingPartitionReassignment> partitions(arena);
        for (const std::int32_t index : asked.partition_indexes) {
            partitions.emplace_back().partition_index = index;
        }
        topics.push_back({.name = asked.name, .partitions = partitions});
    }
    return topics;
}

using OngoingPartition = ListPartitionReassignmentsResponse::OngoingPartitionReassignment;
using OngoingTopic = ListPartitionReassignmentsResponse::OngoingTopicReassignment;

Array<std::int32_t> ids(Arena& arena, const std::vector<BrokerId>& brokers) {
    ArenaVector<std::int32_t> listed(arena, brokers.size());
    for (const BrokerId broker : brokers) {
        listed.push_back(broker.value);
    }
    return listed;
}

/// `wanted`: only these partitions; null for all.
void add_topic(Arena& arena, const logs::NodePlan& plan, const catalog::Topic& topic, const Array<std::int32_t>* wanted,
               ArenaVector<OngoingTopic>& ongoing) {
    const std::shared_ptr<const logs::TopicPlace> places = plan.place_known_at(kNoBroker, topic.id);
    ArenaVector<OngoingPartition> partitions(arena);
    for (std::size_t index = 0; places != nullptr && index < places->size(); ++index) {
        const logs::PartitionPlace& place = (*places)[index];
        const auto partition = static_cast<std::int32_t>(index);
        if ((wanted == nullptr || std::ranges::find(*wanted, partition) != wanted->end()) &&
            !(place.adding.empty() && place.removing.empty())) {
            partitions.push_back({.partition_index = partition,
                                  .replicas = ids(arena, place.replicas),
                                  .adding_replicas = ids(arena, place.adding),
                                  .removing_replicas = ids(arena, place.removing)});
        }
    }
    if (!partitions.empty()) {
        ongoing.push_back({.name = topic.name, .partitions = partitions});
    }
}

Array<OngoingTopic> ongoing_topics(runtime::RequestContext& context, const ListPartitionReassignmentsRequest& request) {
    const logs::NodePlan* const plan = context.services.placement.plan();
    ArenaVector<OngoingTopic> ongoing(context.arena());
    if (plan == nullptr) {
        return ongoing;
    }
    const catalog::CatalogSnapshot& catalog = *context.turn.topics().catalog;
    if (request.topics.is_null()) {
        for (const catalog::Topic& topic : catalog.topics()) {
            add_topic(context.arena(), *plan, topic, nullptr, ongoing);
        }
    }
    for (const auto& asked : request.topics) {
        if (const catalog::Topic* topic = catalog.find_topic(asked.name)) {
            add_topic(context.arena(), *plan, *topic, &asked.partition_indexes, ongoing);
        }
    }
    return ongoing;
}

}  // namespace

void list_partition_reassignments(runtime::RequestContext& context) {
    const ListPartitionReassignmentsRequest* request = context.decode<ListPartitionReassignmentsRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize_cluster(context, access::kDescribeCluster)) {
        ListPartitionReassignmentsResponse refused;
        refused.error_code = ErrorCode::cluster_authorization_failed;
        refused.error_message = cluster_refusal(context, access::kDescribeCluster);
        refused.topics = as_asked(*request, context.arena());
        context.reply(refused);
        return;
    }
    ListPartitionReassignmentsResponse response;
    response.error_message = std::nullopt;
    response.topics = ongoing_topics(context, *request);
    context.reply(response);
}

}  // namespace partita::handlers
