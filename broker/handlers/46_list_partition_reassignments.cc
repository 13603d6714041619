// ListPartitionReassignments: v0, flexible.
//
// One broker has nowhere to move a replica to, so the list is always empty. kafka-topics --describe sends this request.

#include "protocol/messages/46_list_partition_reassignments.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/cluster_refusal.h"
#include "broker/handlers/registry.h"

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
    context.reply(response);
}

}  // namespace partita::handlers
