#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "broker/catalog/internal_topics.h"
#include "broker/config/listeners.h"
#include "protocol/types.h"

namespace partita::logs {

/// A node of the cluster, as clients see it.
struct Node {
    BrokerId id;
    /// Null means the address at which the asking client reached this process.
    std::optional<config::AdvertisedAddress> address = std::nullopt;
};

/// How several nodes share the partitions and coordinators. All functions return the same result for the same arguments as long
/// as the broker runs. Thread-safe.
class NodePlan {
  public:
    virtual ~NodePlan() = default;
    /// All nodes, at least one. The plan owns the span's memory.
    [[nodiscard]] virtual std::span<const Node> nodes() const = 0;
    [[nodiscard]] virtual BrokerId leader_of(std::string_view topic, PartitionIndex partition) const = 0;
    [[nodiscard]] virtual BrokerId coordinator_of(catalog::CoordinatorKind kind, std::string_view key) const = 0;
    [[nodiscard]] virtual BrokerId node_of(std::string_view listener) const = 0;
};

/// Tells which node leads a partition, coordinates a group or a transaction, and answers at a listener. Clients learn these
/// nodes, and send their requests there. Without a plan of several nodes, one node answers for everything.
///
/// The results are plain values; without a plan a call costs one load and one branch. Thread-safe.
class Placement {
  public:
    /// `own` is the node id in the configuration. `plan` may be null and must outlive this object.
    explicit Placement(BrokerId own, const NodePlan* plan = nullptr) : own_{.id = own}, plan_(plan) {}

    /// The node id in this process's configuration. This node has the broker's settings and is the controller.
    [[nodiscard]] BrokerId own() const { return own_.id; }
    /// All nodes of the cluster, at least one.
    [[nodiscard]] std::span<const Node> nodes() const { return plan_ == nullptr ? std::span(&own_, 1) : plan_->nodes(); }
    [[nodiscard]] BrokerId leader_of(std::string_view topic, PartitionIndex partition) const {
        return plan_ == nullptr ? own_.id : plan_->leader_of(topic, partition);
    }
    /// `key` is the key of FindCoordinator: the id of a group or of a transactional producer.
    [[nodiscard]] BrokerId coordinator_of(catalog::CoordinatorKind kind, std::string_view key) const {
        return plan_ == nullptr ? own_.id : plan_->coordinator_of(kind, key);
    }
    /// The node that answers clients of `listener` (a name in `listeners`).
    [[nodiscard]] BrokerId node_of(std::string_view listener) const {
        return plan_ == nullptr ? own_.id : plan_->node_of(listener);
    }
    /// True if a request through `listener` reached the leader of the partition.
    [[nodiscard]] bool is_led_at(std::string_view listener, std::string_view topic, PartitionIndex partition) const {
        return plan_ == nullptr || plan_->node_of(listener) == plan_->leader_of(topic, partition);
    }

  private:
    const Node own_;
    const NodePlan* const plan_;
};

}  // namespace partita::logs
