#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/placement.h"
#include "protocol/schema.h"

namespace partita::handlers {

/// The node that the client addressed, by its listener.
[[nodiscard]] inline BrokerId asked_node(const runtime::RequestContext& context) {
    return context.services.placement.node_of(context.listener().name);
}

/// The ids of all nodes.
[[nodiscard]] inline std::vector<BrokerId> node_ids(const logs::Placement& placement) {
    std::vector<BrokerId> ids;
    for (const logs::Node& node : placement.nodes()) {
        ids.push_back(node.id);
    }
    return ids;
}

/// The address at which the client reaches `node`. The reference is valid as long as the request.
[[nodiscard]] inline const config::AdvertisedAddress& address_of(const runtime::RequestContext& context, const logs::Node& node) {
    return node.address ? *node.address : context.listener().advertised;
}

/// The address at which the client reaches the node with this id, one of the placement's nodes.
[[nodiscard]] inline const config::AdvertisedAddress& address_of(const runtime::RequestContext& context, BrokerId id) {
    const std::span<const logs::Node> nodes = context.services.placement.nodes();
    const auto node = std::ranges::find(nodes, id, &logs::Node::id);
    return node == nodes.end() ? context.listener().advertised : address_of(context, *node);
}

/// The replicas of partitions as replies list them: only the leader. The lists of one reply share an array of all node ids in the
/// turn's arena.
class ShownReplicas {
  public:
    explicit ShownReplicas(const runtime::RequestContext& context, Arena& arena)
        : ids_(arena, context.services.placement.nodes().size()) {
        for (const logs::Node& node : context.services.placement.nodes()) {
            ids_.push_back(node.id.value);
        }
    }

    /// The list for a partition whose leader is `leader`, one of the placement's nodes.
    [[nodiscard]] Array<std::int32_t> of(BrokerId leader) {
        std::int32_t* const id = std::ranges::find(ids_, leader.value);
        return id == ids_.end() ? Array<std::int32_t>() : Array<std::int32_t>(id, 1);
    }

  private:
    ArenaVector<std::int32_t> ids_;
};

}  // namespace partita::handlers
