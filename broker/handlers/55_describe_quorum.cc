// DescribeQuorum: v0-2, flexible (KIP-595).
//
//   v1: times of the last fetch; v2: directory ids, error texts, nodes (KIP-853).
//
// The catalog's log stands in for __cluster_metadata, and this broker is the only voter.

#include "protocol/messages/55_describe_quorum.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/quorum.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/placement.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/catalog.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(describe_quorum, catalog, access::kDescribeCluster);

namespace {

using PartitionData = DescribeQuorumResponse::PartitionData;

/// The only valid request: partition 0 of the metadata log, and nothing else.
bool asks_for_the_metadata_log(const DescribeQuorumRequest& request) {
    return request.topics.count() == 1 && request.topics[0].topic_name == catalog::kClusterMetadataTopicName &&
           request.topics[0].partitions.count() == 1 && request.topics[0].partitions[0].partition_index == 0;
}

PartitionData describe(runtime::RequestContext& context, const runtime::Catalog& catalog) {
    const std::int64_t end = catalog.log_end().value;
    const std::int64_t now = context.now().wall.value;
    ArenaVector<DescribeQuorumResponse::ReplicaState> voters(context.arena(), 1);
    DescribeQuorumResponse::ReplicaState& voter = voters.emplace_back();
    voter.replica_id = context.services.placement.own().value;
    voter.log_end_offset = end;
    if (context.version() >= 1) {
        voter.last_fetch_timestamp = now;
        voter.last_caught_up_timestamp = now;
    }
    if (context.version() >= 2) {
        voter.replica_directory_id = voter_directory_id(context.services);
    }
    return {.leader_id = context.services.placement.own().value,
            .leader_epoch = kQuorumEpoch,
            .high_watermark = end,
            .current_voters = voters};
}

Array<DescribeQuorumResponse::Node> voter_nodes(runtime::RequestContext& context) {
    Arena& arena = context.arena();
    const QuorumEndpoint endpoint = quorum_endpoint(context);
    ArenaVector<DescribeQuorumResponse::Listener> listeners(arena, 1);
    listeners.push_back(
        {.name = arena.copy(endpoint.listener_name), .host = arena.copy(endpoint.address.host), .port = endpoint.address.port});
    ArenaVector<DescribeQuorumResponse::Node> nodes(arena, 1);
    nodes.push_back({.node_id = context.services.placement.own().value, .listeners = listeners});
    return nodes;
}

}  // namespace

void describe_quorum(runtime::RequestContext& context, runtime::Catalog& catalog) {
    const DescribeQuorumRequest* request = context.decode<DescribeQuorumRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize_cluster(context, access::kDescribeCluster)) {
        DescribeQuorumResponse refused;
        refused.error_code = ErrorCode::cluster_authorization_failed;
        refused.error_message = error_message(refused.error_code);
        context.reply(refused);
        return;
    }
    Arena& arena = context.arena();
    DescribeQuorumResponse response;
    const bool is_answered = asks_for_the_metadata_log(*request);
    ArenaVector<DescribeQuorumResponse::TopicData> topics(arena, request->topics.count());
    for (const DescribeQuorumRequest::TopicData& topic : request->topics) {
        ArenaVector<PartitionData> partitions(arena, topic.partitions.count());
        for (const DescribeQuorumRequest::PartitionData& partition : topic.partitions) {
            if (is_answered) {
                partitions.push_back(describe(context, catalog));
            } else {
                partitions.push_back({.partition_index = partition.partition_index,
                                      .error_code = ErrorCode::unknown_topic_or_partition,
                                      .error_message = error_message(ErrorCode::unknown_topic_or_partition)});
            }
        }
        topics.push_back({.topic_name = topic.topic_name, .partitions = partitions});
    }
    response.topics = topics;
    if (is_answered && context.version() >= 2) {
        response.nodes = voter_nodes(context);
    }
    context.reply(response);
}

}  // namespace partita::handlers
