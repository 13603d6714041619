// AlterPartitionReassignments: v0-1, flexible.
//
//   v1: whether the replication factor may change (KIP-860).
//
// The placement moves the replicas. An only broker already holds every one: an assignment to it succeeds and changes nothing; any
// other is refused with Kafka's texts. There is never a reassignment to cancel then.

#include "protocol/messages/45_alter_partition_reassignments.h"
#include "broker/handlers/admin_replies.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/cluster_refusal.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/placement.h"
#include "broker/logs/turn.h"

namespace partita::handlers {

PARTITA_SERVES(alter_partition_reassignments, access::kAlterCluster);

namespace {

using Partition = AlterPartitionReassignmentsRequest::ReassignablePartition;
using PartitionResult = AlterPartitionReassignmentsResponse::ReassignablePartitionResponse;
using TopicResult = AlterPartitionReassignmentsResponse::ReassignableTopicResponse;

PartitionResult reassign(runtime::RequestContext& context, const catalog::Topic* topic, std::string_view name,
                         const Partition& wish, bool may_change_factor) {
    Arena& arena = context.arena();
    const auto refused = [&](ErrorCode code, std::optional<std::string_view> message) {
        return PartitionResult{wish.partition_index, code, message};
    };
    if (topic == nullptr) {
        return refused(ErrorCode::unknown_topic_or_partition,
                       arena.copy("Unable to find a topic named " + std::string(name) + "."));
    }
    if (!topic->has_partition(PartitionIndex{wish.partition_index})) {
        return refused(ErrorCode::unknown_topic_or_partition, arena.copy("Unable to find partition " + std::string(name) + ":" +
                                                                         std::to_string(wish.partition_index) + "."));
    }
    std::optional<std::vector<BrokerId>> target;
    if (!wish.replicas.is_null()) {
        target.emplace();
        for (const std::int32_t broker : wish.replicas) {
            target->push_back(BrokerId{broker});
        }
    }
    const catalog::CatalogError result =
        context.services.placement.reassign(*topic, PartitionIndex{wish.partition_index}, target, may_change_factor);
    return refused(result.code, message_of(result, arena));
}

}  // namespace

void alter_partition_reassignments(runtime::RequestContext& context) {
    const AlterPartitionReassignmentsRequest* request = context.decode<AlterPartitionReassignmentsRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    ErrorCode failure = has_no_time(request->timeout_ms) ? ErrorCode::request_timed_out : ErrorCode::none;
    std::optional<std::string_view> failure_message;
    if (!authorize_cluster(context, access::kAlterCluster)) {
        failure = ErrorCode::cluster_authorization_failed;
        failure_message = cluster_refusal(context, access::kAlterCluster);
    }
    ArenaVector<TopicResult> results(arena, request->topics.count());
    for (const AlterPartitionReassignmentsRequest::ReassignableTopic& topic : request->topics) {
        const catalog::Topic* found = context.turn.topics().catalog->find_topic(topic.name);
        ArenaVector<PartitionResult> partitions(arena, topic.partitions.count());
        for (const Partition& partition : topic.partitions) {
            partitions.push_back(failure != ErrorCode::none
                                     ? PartitionResult{partition.partition_index, failure, failure_message}
                                     : reassign(context, found, topic.name, partition, request->allow_replication_factor_change));
        }
        results.push_back({.name = topic.name, .partitions = partitions});
    }
    AlterPartitionReassignmentsResponse response;
    response.allow_replication_factor_change = request->allow_replication_factor_change;
    // Kafka answers an empty request before its controller sees it, so the text is empty instead of null.
    if (results.size() > 0) {
        response.error_message = failure_message;
        response.error_code = failure;
    }
    response.responses = results;
    context.reply(response);
}

}  // namespace partita::handlers
