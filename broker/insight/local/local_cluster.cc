#include "broker/insight/local/local_cluster.h"

#include "broker/insight/local/local_topics.h"
#include "broker/insight/shell/topic_plan.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/clients/connections.h"

namespace partita::insight {

std::optional<ConnectionFacts> LocalClients::find(ConnectionId connection) const { return connections_.find(connection); }

std::optional<ConnectionFacts> LocalClients::coordinator_of(std::string_view group, std::string_view member_id) const {
    return connections_.coordinator_of(group, member_id);
}

std::vector<SpeakingConnection> LocalClients::called(std::string_view client_id, std::size_t most) const {
    return connections_.called(client_id, most);
}

bool LocalClients::knows_all() const { return connections_.knows_all(); }

bool LocalClients::want_process(ConnectionId connection) { return connections_.want_process(connection); }

std::shared_ptr<const ObservedTopics> LocalCluster::topics() const {
    return std::make_shared<const LocalTopics>(parts_.topics.table(), parts_.transactions);
}

PlanSources LocalPlanSources::facts() const { return {cluster, keys, clock}; }

}  // namespace partita::insight
