#include "broker/handlers/shown_nodes.h"

#include <algorithm>
#include <iterator>

#include "broker/config/current_config.h"

namespace partita::handlers {
namespace {

ShownNode shown(const NodeKnowledge& known, Arena& arena, const logs::Node& node, const logs::NodePlan& plan) {
    const config::AdvertisedAddress& here = known.listener.advertised;
    return {.id = node.id.value,
            .host = here.host,
            .port = plan.port_of(node.id, known.listener.name).value_or(here.port),
            .rack = node.rack ? std::optional<std::string_view>(arena.copy(*node.rack)) : std::nullopt,
            .is_fenced = node.is_fenced};
}

ShownNode only_node(const NodeKnowledge& known, Arena& arena) {
    const auto config = known.config.get();
    const config::AdvertisedAddress& here = known.listener.advertised;
    return {.id = known.placement.own().value,
            .host = here.host,
            .port = here.port,
            .rack = config->broker_rack ? std::optional<std::string_view>(arena.copy(*config->broker_rack)) : std::nullopt};
}

}  // namespace

ArenaVector<ShownNode> shown_nodes(const NodeKnowledge& known, Arena& arena, bool with_fenced) {
    const logs::NodePlan* const plan = known.placement.plan();
    if (plan == nullptr) {
        ArenaVector<ShownNode> nodes(arena, 1);
        nodes.push_back(only_node(known, arena));
        return nodes;
    }
    const std::shared_ptr<const logs::Nodes> all = plan->nodes_known_at(known.listener.node);
    ArenaVector<ShownNode> nodes(arena, all->size());
    for (const logs::Node& node : *all) {
        if (with_fenced || !node.is_fenced) {
            nodes.push_back(shown(known, arena, node, *plan));
        }
    }
    return nodes;
}

std::optional<ShownNode> shown_node(const NodeKnowledge& known, Arena& arena, BrokerId id) {
    const logs::NodePlan* const plan = known.placement.plan();
    if (plan == nullptr) {
        return id == known.placement.own() ? std::optional(only_node(known, arena)) : std::nullopt;
    }
    const std::shared_ptr<const logs::Nodes> all = plan->nodes_known_at(known.listener.node);
    const auto node = std::ranges::find(*all, id, &logs::Node::id);
    return node == all->end() || node->is_fenced ? std::nullopt : std::optional(shown(known, arena, *node, *plan));
}

LeaderHint leader_hint(const NodeKnowledge& known, const logs::TopicState& topic, PartitionIndex partition) {
    const auto index = static_cast<std::size_t>(partition.value);
    const logs::NodePlan* const plan = known.placement.plan();
    if (plan == nullptr) {
        return {known.placement.own(), topic.partitions[index]->leader_epoch()};
    }
    const auto place = plan->place_known_at(known.listener.node, topic.topic->id);
    return place == nullptr || index >= place->size() ? LeaderHint()
                                                      : LeaderHint{(*place)[index].leader, (*place)[index].leader_epoch};
}

ShownPlaces::ShownPlaces(const NodeKnowledge& known, Arena& arena) : known_(known), arena_(arena), only_(arena, 1) {
    if (const logs::NodePlan* const plan = known.placement.plan()) {
        nodes_ = plan->nodes_known_at(known.listener.node);
    } else {
        only_.push_back(known.placement.own().value);
    }
}

void ShownPlaces::look_at(const logs::TopicState& topic) {
    topic_ = &topic;
    if (const logs::NodePlan* const plan = known_.placement.plan()) {
        place_ = plan->place_known_at(known_.listener.node, topic.topic->id);
    }
}

Array<std::int32_t> ShownPlaces::list(const std::vector<BrokerId>& ids) {
    ArenaVector<std::int32_t> listed(arena_, ids.size());
    for (const BrokerId id : ids) {
        listed.push_back(id.value);
    }
    return listed;
}

bool ShownPlaces::is_alive(BrokerId id) const {
    const auto node = std::ranges::find(*nodes_, id, &logs::Node::id);
    return node != nodes_->end() && !node->is_fenced;
}

ShownPlaces::Place ShownPlaces::of(std::int32_t index) {
    if (nodes_ == nullptr) {
        return {
            .leader = only_[0], .leader_epoch = topic_->partition(index)->leader_epoch().value, .replicas = only_, .isr = only_};
    }
    if (place_ == nullptr || static_cast<std::size_t>(index) >= place_->size()) {
        // The topic was deleted a moment ago, or the node has not heard of the partition.
        return {.error = ErrorCode::leader_not_available};
    }
    const logs::PartitionPlace& place = (*place_)[static_cast<std::size_t>(index)];
    const bool has_leader = is_alive(place.leader);
    std::vector<BrokerId> offline;
    std::ranges::copy_if(place.replicas, std::back_inserter(offline), [&](BrokerId id) { return !is_alive(id); });
    return {.error = has_leader ? ErrorCode::none : ErrorCode::leader_not_available,
            .leader = has_leader ? place.leader.value : kNoBroker.value,
            .leader_epoch = place.leader_epoch.value,
            .replicas = list(place.replicas),
            .isr = list(place.isr),
            .offline = list(offline),
            .eligible = list(place.eligible),
            .last_known_eligible = list(place.last_known_eligible)};
}

}  // namespace partita::handlers
