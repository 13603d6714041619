#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "broker/logs/placement.h"
#include "broker/logs/topic_table.h"
#include "broker/runtime/clients/client_connection.h"
#include "protocol/arena.h"
#include "protocol/error_code.h"
#include "protocol/schema.h"

/// The nodes of the cluster in replies, as the node that the client asked knows them.
namespace partita::config {
class CurrentConfig;
}

namespace partita::handlers {

/// The parts that know the nodes. All outlive the request.
struct NodeKnowledge {
    const logs::Placement& placement;
    const config::CurrentConfig& config;
    /// Where the client asks.
    const runtime::ListenerView& listener;
};
/// For a request of any kind.
template <class Request, class Services>
[[nodiscard]] NodeKnowledge node_knowledge(const Request& request, const Services& services) {
    return {services.placement, services.config, request.listener()};
}

/// The node that the client asked, by its listener.
template <class Request>
[[nodiscard]] BrokerId asked_node(const Request& request) {
    const BrokerId node = request.listener().node;
    return node == kNoBroker ? request.services.placement.own() : node;
}

struct ShownNode {
    std::int32_t id = kNoBroker.value;
    std::string_view host;
    std::int32_t port = -1;
    std::optional<std::string_view> rack;
    bool is_fenced = false;
};
/// Nodes with the addresses at which this client reaches them, ascending by id; in the arena. `with_fenced`: also dead ones.
[[nodiscard]] ArenaVector<ShownNode> shown_nodes(const NodeKnowledge& known, Arena& arena, bool with_fenced = false);
/// The node of this id; null if it is dead or unknown.
[[nodiscard]] std::optional<ShownNode> shown_node(const NodeKnowledge& known, Arena& arena, BrokerId id);

struct LeaderHint {
    BrokerId leader = kNoBroker;
    LeaderEpoch epoch = kNoLeaderEpoch;
};
/// Tells a client at the wrong node where the leader is.
[[nodiscard]] LeaderHint leader_hint(const NodeKnowledge& known, const logs::TopicState& topic, PartitionIndex partition);

/// The nodes of `leaders` as a reply lists them (KIP-951), each once. `Endpoint` is the reply's own type.
template <class Endpoint>
[[nodiscard]] Array<Endpoint> leader_endpoints(const NodeKnowledge& known, Arena& arena, std::span<const LeaderHint> leaders) {
    ArenaVector<Endpoint> endpoints(arena);
    for (const LeaderHint& hint : leaders) {
        const auto is_same = [&](const Endpoint& listed) { return listed.node_id == hint.leader.value; };
        const auto node = std::ranges::any_of(endpoints, is_same) ? std::nullopt : shown_node(known, arena, hint.leader);
        if (node) {
            endpoints.push_back({.node_id = node->id, .host = node->host, .port = node->port, .rack = node->rack});
        }
    }
    return endpoints;
}

/// Where the partitions of topics lie, as replies list it.
class ShownPlaces {
  public:
    ShownPlaces(const NodeKnowledge& known, Arena& arena);

    struct Place {
        ErrorCode error = ErrorCode::none;
        std::int32_t leader = kNoBroker.value;
        std::int32_t leader_epoch = kNoLeaderEpoch.value;
        Array<std::int32_t> replicas;
        Array<std::int32_t> isr;
        Array<std::int32_t> offline;
        Array<std::int32_t> eligible;
        Array<std::int32_t> last_known_eligible;
    };
    /// Begins with this topic, which lives as long as the request.
    void look_at(const logs::TopicState& topic);
    /// A partition of that topic. The lists live in the arena.
    [[nodiscard]] Place of(std::int32_t index);

  private:
    [[nodiscard]] Array<std::int32_t> list(const std::vector<BrokerId>& ids);
    [[nodiscard]] bool is_alive(BrokerId id) const;

    const NodeKnowledge known_;
    Arena& arena_;
    /// Null for one node, which has everything.
    std::shared_ptr<const logs::Nodes> nodes_;
    const logs::TopicState* topic_ = nullptr;
    std::shared_ptr<const logs::TopicPlace> place_;
    /// The list of the only node.
    ArenaVector<std::int32_t> only_;
};

}  // namespace partita::handlers
