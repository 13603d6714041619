#include "broker/logs/placement.h"

#include <algorithm>

#include "broker/catalog/change_builder.h"

namespace partita::logs {

std::vector<BrokerId> Placement::registered() const {
    if (plan_ == nullptr) {
        return {own_};
    }
    std::vector<BrokerId> ids;
    for (const Node& node : *plan_->nodes_known_at(kNoBroker)) {
        ids.push_back(node.id);
    }
    return ids;
}

BrokerId Placement::controller_known_at(BrokerId asked) const {
    if (plan_ == nullptr) {
        return own_;
    }
    const std::shared_ptr<const Nodes> nodes = plan_->nodes_known_at(asked);
    const auto lives = [](const Node& node) { return !node.is_fenced; };
    const auto first = std::ranges::find_if(*nodes, lives);
    const auto own = std::ranges::find_if(*nodes, [&](const Node& node) { return node.id == own_ && lives(node); });
    return own != nodes->end() ? own->id : first != nodes->end() ? first->id : kNoBroker;
}

catalog::CatalogError Placement::elect(const catalog::Topic& topic, PartitionIndex partition, Election election) const {
    if (plan_ == nullptr) {
        // The only replica leads.
        return {ErrorCode::election_not_needed, std::nullopt};
    }
    return plan_->elect(topic, partition, election);
}

catalog::CatalogError Placement::reassign(const catalog::Topic& topic, PartitionIndex partition,
                                          const std::optional<std::vector<BrokerId>>& target, bool may_change_factor) const {
    if (target) {
        if (auto problem = catalog::assignment_problem(*target, std::nullopt, registered())) {
            return {ErrorCode::invalid_replica_assignment, std::move(*problem)};
        }
    }
    if (plan_ != nullptr) {
        return plan_->reassign(topic, partition, target, may_change_factor);
    }
    // The only node has every replica, so that nothing moves.
    return {target ? ErrorCode::none : ErrorCode::no_reassignment_in_progress, std::nullopt};
}

}  // namespace partita::logs
