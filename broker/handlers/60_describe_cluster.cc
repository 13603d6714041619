// DescribeCluster: v0-2, flexible.
//
//   v1: endpoint type (1 brokers, 2 controllers); v2: fenced brokers.

#include "protocol/messages/60_describe_cluster.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/shown_nodes.h"
#include "broker/logs/turn.h"

namespace partita::handlers {

PARTITA_SERVES(describe_cluster, access::kDescribeCluster);

namespace {

constexpr std::int8_t kBrokerEndpoints = 1;
constexpr std::int8_t kControllerEndpoints = 2;

}  // namespace

void describe_cluster(runtime::RequestContext& context) {
    const DescribeClusterRequest* request = context.decode<DescribeClusterRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    DescribeClusterResponse response;
    if (request->endpoint_type != kBrokerEndpoints) {
        const bool controller = request->endpoint_type == kControllerEndpoints;
        response.error_code = controller ? ErrorCode::mismatched_endpoint_type : ErrorCode::unsupported_endpoint_type;
        response.error_message = arena.copy(
            controller ? "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
                       : "Unsupported endpoint type " + std::to_string(request->endpoint_type));
        context.reply(response);
        return;
    }
    ArenaVector<ShownNode> nodes = shown_nodes(node_knowledge(context, context.services), arena, request->include_fenced_brokers);
    ArenaVector<DescribeClusterResponse::DescribeClusterBroker> brokers(arena, nodes.size());
    for (const ShownNode& node : nodes) {
        brokers.push_back(
            {.broker_id = node.id, .host = node.host, .port = node.port, .rack = node.rack, .is_fenced = node.is_fenced});
    }
    response.cluster_id = context.services.description.cluster_id;
    response.controller_id = context.services.placement.controller_known_at(context.listener().node).value;
    response.brokers = brokers;
    if (request->include_cluster_authorized_operations) {
        response.cluster_authorized_operations =
            authorize_cluster(context, access::kDescribeCluster)
                ? authorized_operations(context, access::ResourceType::cluster, access::kClusterName)
                : 0;
    }
    context.reply(response);
}

}  // namespace partita::handlers
