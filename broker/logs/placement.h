#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "broker/catalog/internal_topics.h"
#include "broker/config/listeners.h"
#include "protocol/types.h"

namespace partita::logs {

/// A node of the cluster, as clients are told of it.
struct Node {
    BrokerId id;
    /// Null: the address at which the client that asks reached this process.
    std::optional<config::AdvertisedAddress> address = std::nullopt;
};

/// How several nodes share what there is. All functions answer the same for the same arguments as long as the broker runs, and
/// any thread may call them.
class NodePlan {
  public:
    virtual ~NodePlan() = default;
    /// All nodes, at least one. The span is valid as long as the plan.
    [[nodiscard]] virtual std::span<const Node> nodes() const = 0;
    [[nodiscard]] virtual BrokerId leader_of(std::string_view topic, PartitionIndex partition) const = 0;
    [[nodiscard]] virtual BrokerId coordinator_of(catalog::CoordinatorKind kind, std::string_view key) const = 0;
    [[nodiscard]] virtual BrokerId node_of(std::string_view listener) const = 0;
};

/// Says which node leads a partition, coordinates a group or a transaction, and answers at a listener: what clients are told, and
/// which node a request has to be sent to. One node answers for everything, unless the broker was given a plan of several.
///
/// The answers are plain values; without a plan they cost one load and one branch. Any thread may ask.
class Placement {
  public:
    /// `own` is the node that the configuration names. `plan` may be null, and outlives this.
    explicit Placement(BrokerId own, const NodePlan* plan = nullptr) : own_{.id = own}, plan_(plan) {}

    /// The node that the configuration of this process names: it has the broker's settings, and is the controller.
    [[nodiscard]] BrokerId own() const { return own_.id; }
    /// All nodes of the cluster, at least one.
    [[nodiscard]] std::span<const Node> nodes() const { return plan_ == nullptr ? std::span(&own_, 1) : plan_->nodes(); }
    [[nodiscard]] BrokerId leader_of(std::string_view topic, PartitionIndex partition) const {
        return plan_ == nullptr ? own_.id : plan_->leader_of(topic, partition);
    }
    /// `key` is what FindCoordinator asks for: the id of a group or of a transactional producer.
    [[nodiscard]] BrokerId coordinator_of(catalog::CoordinatorKind kind, std::string_view key) const {
        return plan_ == nullptr ? own_.id : plan_->coordinator_of(kind, key);
    }
    /// The node that a client speaks to when it came through `listener` (a name of `listeners`).
    [[nodiscard]] BrokerId node_of(std::string_view listener) const {
        return plan_ == nullptr ? own_.id : plan_->node_of(listener);
    }
    /// Whether a request that came through `listener` reached the leader of the partition.
    [[nodiscard]] bool is_led_at(std::string_view listener, std::string_view topic, PartitionIndex partition) const {
        return plan_ == nullptr || plan_->node_of(listener) == plan_->leader_of(topic, partition);
    }

  private:
    const Node own_;
    const NodePlan* const plan_;
};

}  // namespace partita::logs
