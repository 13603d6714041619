#pragma once

#include <array>
#include <span>
#include <string_view>

#include "broker/logs/placement.h"

namespace partita::test {

/// A plan of three nodes, 1 to 3. Partitions go round; node 2 has the groups and node 3 the transactions. Clients reach node 1
/// where they came in and the others at their own addresses; the listener "THIRD" belongs to node 3.
class ThreeNodes final : public logs::NodePlan {
  public:
    [[nodiscard]] std::span<const logs::Node> nodes() const override { return nodes_; }
    [[nodiscard]] BrokerId leader_of(std::string_view, PartitionIndex partition) const override {
        return nodes_[static_cast<std::size_t>(partition.value) % nodes_.size()].id;
    }
    [[nodiscard]] BrokerId coordinator_of(catalog::CoordinatorKind kind, std::string_view) const override {
        return kind == catalog::CoordinatorKind::groups ? nodes_[1].id : nodes_[2].id;
    }
    [[nodiscard]] BrokerId node_of(std::string_view listener) const override {
        return listener == "THIRD" ? nodes_[2].id : nodes_[0].id;
    }

  private:
    const std::array<logs::Node, 3> nodes_{
        {{.id = BrokerId{1}},
         {.id = BrokerId{2}, .address = config::AdvertisedAddress{.host = "second.example", .port = 9102}},
         {.id = BrokerId{3}, .address = config::AdvertisedAddress{.host = "third.example", .port = 9103}}}};
};

}  // namespace partita::test
