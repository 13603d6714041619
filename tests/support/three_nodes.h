#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/logs/placement.h"

namespace partita::test {

/// A plan of three nodes, 1 to 3, with one replica of each partition. Partitions go round; node 2 has the groups and node 3 the
/// transactions. The nodes 2 and 3 listen at the ports 9102 and 9103; the port of node 1 is that of the client.
class ThreeNodes : public logs::NodePlan {
  public:
    static constexpr int kPartitionsMax = 10;

    [[nodiscard]] std::shared_ptr<const logs::Nodes> nodes_known_at(BrokerId) const override { return nodes_; }
    [[nodiscard]] std::optional<std::uint16_t> port_of(BrokerId node, std::string_view) const override {
        return node == BrokerId{1} ? std::nullopt : std::optional(static_cast<std::uint16_t>(9100 + node.value));
    }
    [[nodiscard]] std::shared_ptr<const logs::TopicPlace> place_known_at(BrokerId, const TopicId&) const override {
        auto place = std::make_shared<logs::TopicPlace>();
        for (int index = 0; index < kPartitionsMax; ++index) {
            const BrokerId leader = leader_of(PartitionIndex{index});
            place->push_back({.leader = leader, .replicas = {leader}, .isr = {leader}});
        }
        return place;
    }
    [[nodiscard]] bool is_led_at(BrokerId asked, const TopicId&, PartitionIndex partition) const override {
        return leader_of(partition) == asked;
    }
    [[nodiscard]] bool is_held_at(BrokerId asked, const TopicId&, PartitionIndex partition) const override {
        return holds_everything_ || leader_of(partition) == asked;
    }
    [[nodiscard]] BrokerId coordinator_known_at(BrokerId, catalog::CoordinatorKind kind, std::string_view) const override {
        return kind == catalog::CoordinatorKind::groups ? BrokerId{2} : BrokerId{3};
    }
    /// Clients in the rack "second" read from node 2.
    [[nodiscard]] std::optional<BrokerId> preferred_replica(BrokerId, const TopicId&, PartitionIndex,
                                                            std::string_view rack) const override {
        return rack == "second" ? std::optional(BrokerId{2}) : std::nullopt;
    }
    /// From now on every node is a follower of all partitions.
    void hold_everything() { holds_everything_ = true; }
    void follow(const catalog::CatalogChange&) override {}
    catalog::CatalogError elect(const catalog::Topic&, PartitionIndex, logs::Election) override {
        return {ErrorCode::election_not_needed, std::nullopt};
    }
    catalog::CatalogError reassign(const catalog::Topic&, PartitionIndex, const std::optional<std::vector<BrokerId>>&,
                                   bool) override {
        return {ErrorCode::none, std::nullopt};
    }
    void set_doors(std::vector<logs::NodeListener>, logs::NodeDoors*) override {}
    [[nodiscard]] std::vector<BrokerId> further_nodes() const override { return {BrokerId{2}, BrokerId{3}}; }

    [[nodiscard]] static BrokerId leader_of(PartitionIndex partition) { return BrokerId{partition.value % 3 + 1}; }

  private:
    bool holds_everything_ = false;
    const std::shared_ptr<const logs::Nodes> nodes_ = std::make_shared<const logs::Nodes>(
        logs::Nodes{{.id = BrokerId{1}}, {.id = BrokerId{2}, .rack = "second"}, {.id = BrokerId{3}}});
};

}  // namespace partita::test
