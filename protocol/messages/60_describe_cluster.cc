#include "protocol/messages/60_describe_cluster.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(DescribeClusterRequest, versions(0, 2), flexible_since(0),
    FIELD(include_cluster_authorized_operations, "IncludeClusterAuthorizedOperations"),
    FIELD(endpoint_type, "EndpointType", since(1)),
    FIELD(include_fenced_brokers, "IncludeFencedBrokers", since(2)))

PARTITA_STRUCT(DescribeClusterResponse::DescribeClusterBroker,
    FIELD(broker_id, "BrokerId"),
    FIELD(host, "Host"),
    FIELD(port, "Port"),
    FIELD(rack, "Rack", nullable()),
    FIELD(is_fenced, "IsFenced", since(2)))

PARTITA_MESSAGE(DescribeClusterResponse, versions(0, 2), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(endpoint_type, "EndpointType", since(1)),
    FIELD(cluster_id, "ClusterId"),
    FIELD(controller_id, "ControllerId"),
    FIELD(brokers, "Brokers"),
    FIELD(cluster_authorized_operations, "ClusterAuthorizedOperations"))

PARTITA_API(describe_cluster, DescribeCluster)
// clang-format on

}  // namespace partita
