// ListPartitionReassignments: v0, flexible.
//
// One broker has nowhere to move a replica to, so there are never any. kafka-topics --describe asks.

#include "protocol/messages/46_list_partition_reassignments.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/cluster_refusal.h"
#include "broker/handlers/registry.h"

namespace partita::handlers {

void list_partition_reassignments(runtime::RequestContext& context) {
    if (context.decode<ListPartitionReassignmentsRequest>() == nullptr) {
        return;
    }
    if (!authorize_cluster(context, access::kDescribeCluster)) {
        ListPartitionReassignmentsResponse refused;
        refused.error_code = ErrorCode::cluster_authorization_failed;
        refused.error_message = cluster_refusal(context, access::kDescribeCluster);
        context.reply(refused);
        return;
    }
    ListPartitionReassignmentsResponse response;
    response.error_message = std::nullopt;
    context.reply(response);
}

}  // namespace partita::handlers
