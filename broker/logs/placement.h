#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/catalog/commands.h"
#include "broker/catalog/effects.h"
#include "broker/catalog/internal_topics.h"
#include "broker/catalog/partition_place.h"
#include "broker/config/listeners.h"
#include "protocol/types.h"

namespace partita::logs {

using catalog::Election;
using catalog::Node;
using catalog::Nodes;
using catalog::PartitionPlace;
using catalog::TopicPlace;

/// The listening sockets and connections of nodes. Any thread may call it.
class NodeDoors {
  public:
    virtual ~NodeDoors() = default;
    /// Closes the node's listeners and its connections. `then` runs when all are closed, on some thread.
    virtual void shut(BrokerId node, std::function<void()> then) = 0;
    /// Listens again at the node's ports. `then` gets an error, one line, if another process has taken one.
    virtual void open(BrokerId node, std::function<void(std::expected<void, std::string>)> then) = 0;
    /// Serves the requests again that a gate has postponed at this node.
    virtual void end_rests(BrokerId node) = 0;
};

/// A node's listener, and the port that it was given.
struct NodeListener {
    BrokerId node;
    std::string listener;
    std::uint16_t port = 0;
};

/// How several nodes share the partitions and coordinators. `asked` is the node whose knowledge counts, since a node may have
/// outdated metadata; kNoBroker asks the controller. Thread-safe.
class NodePlan {
  public:
    virtual ~NodePlan() = default;
    /// All registered nodes, at least one, ascending by id. Never null.
    [[nodiscard]] virtual std::shared_ptr<const Nodes> nodes_known_at(BrokerId asked) const = 0;
    /// The port of the node's listener of this name; null for an unknown one.
    [[nodiscard]] virtual std::optional<std::uint16_t> port_of(BrokerId node, std::string_view listener) const = 0;
    /// Has all partitions of the topic. Null if the topic is unknown: it was just deleted.
    [[nodiscard]] virtual std::shared_ptr<const TopicPlace> place_known_at(BrokerId asked, const TopicId& topic) const = 0;
    /// Whether `asked`, which is a node, takes itself for the leader, and whether it has a replica.
    [[nodiscard]] virtual bool is_led_at(BrokerId asked, const TopicId& topic, PartitionIndex partition) const = 0;
    [[nodiscard]] virtual bool is_held_at(BrokerId asked, const TopicId& topic, PartitionIndex partition) const = 0;
    /// kNoBroker if no node coordinates it now. `key` is the key of FindCoordinator: the id of a group or of a transactional
    /// producer.
    [[nodiscard]] virtual BrokerId coordinator_known_at(BrokerId asked, catalog::CoordinatorKind kind,
                                                        std::string_view key) const = 0;
    /// The replica from which a client in `rack` should read a partition that `asked` leads; null for the leader itself.
    [[nodiscard]] virtual std::optional<BrokerId> preferred_replica(BrokerId asked, const TopicId& topic,
                                                                    PartitionIndex partition, std::string_view rack) const = 0;

    /// The catalog's lock is held; no client has seen the change yet.
    virtual void follow(const catalog::CatalogChange& change) = 0;
    virtual catalog::CatalogError elect(const catalog::Topic& topic, PartitionIndex partition, Election election) = 0;
    /// A null target cancels a reassignment that is under way.
    virtual catalog::CatalogError reassign(const catalog::Topic& topic, PartitionIndex partition,
                                           const std::optional<std::vector<BrokerId>>& target, bool may_change_factor) = 0;
    /// The process has these listeners, and works its nodes' doors by `doors`; null before they are gone.
    virtual void set_doors(std::vector<NodeListener> listeners, NodeDoors* doors) = 0;
    /// The nodes for which the process opens listeners, beside the first one, and whether each is alive: a dead one does not
    /// listen.
    [[nodiscard]] virtual std::vector<BrokerId> further_nodes() const = 0;
};

/// Tells which nodes lead a partition, coordinate a group or a transaction, and hold replicas. Clients learn these nodes, and
/// send their requests there. Without a plan of several nodes, one node answers for everything.
///
/// Without a plan a call costs one load and one branch. Thread-safe.
class Placement {
  public:
    /// `own` is the node id in the configuration. `plan` may be null and must outlive this object.
    explicit Placement(BrokerId own, NodePlan* plan = nullptr) : own_(own), plan_(plan) {}
    Placement(const Placement&) = delete;
    Placement& operator=(const Placement&) = delete;

    /// Before the first client.
    void set_plan(NodePlan& plan) { plan_ = &plan; }
    /// Null for one node.
    [[nodiscard]] NodePlan* plan() const { return plan_; }

    /// The node id in this process's configuration. This node has the broker's settings.
    [[nodiscard]] BrokerId own() const { return own_; }
    /// All nodes of the cluster, also the fenced ones, ascending by id.
    [[nodiscard]] std::vector<BrokerId> registered() const;
    /// The node that clients are to ask as the controller: this process's own, or another one if that is dead.
    [[nodiscard]] BrokerId controller_known_at(BrokerId asked) const;
    [[nodiscard]] BrokerId coordinator_known_at(BrokerId asked, catalog::CoordinatorKind kind, std::string_view key) const {
        return plan_ == nullptr ? own_ : plan_->coordinator_known_at(asked, kind, key);
    }
    /// True if the node that the client asked leads the partition. A client of the whole process (kNoBroker) is always right.
    [[nodiscard]] bool is_led_at(BrokerId asked, const TopicId& topic, PartitionIndex partition) const {
        return plan_ == nullptr || asked == kNoBroker || plan_->is_led_at(asked, topic, partition);
    }
    [[nodiscard]] bool is_held_at(BrokerId asked, const TopicId& topic, PartitionIndex partition) const {
        return plan_ == nullptr || asked == kNoBroker || plan_->is_held_at(asked, topic, partition);
    }
    /// The replica from which a consumer in `rack` should read a partition that `asked` leads; kNoBroker for the leader itself.
    [[nodiscard]] BrokerId preferred_replica(BrokerId asked, const TopicId& topic, PartitionIndex partition,
                                             std::string_view rack) const {
        return plan_ == nullptr ? kNoBroker : plan_->preferred_replica(asked, topic, partition, rack).value_or(kNoBroker);
    }
    /// True if the node coordinates the groups or transactions of this partition of `kind`'s topic.
    [[nodiscard]] bool coordinates(BrokerId asked, const catalog::Topic* topic, std::size_t shard) const {
        return plan_ == nullptr || topic == nullptr ||
               is_led_at(asked, topic->id, PartitionIndex{static_cast<std::int32_t>(shard)});
    }

    catalog::CatalogError elect(const catalog::Topic& topic, PartitionIndex partition, Election election) const;
    catalog::CatalogError reassign(const catalog::Topic& topic, PartitionIndex partition,
                                   const std::optional<std::vector<BrokerId>>& target, bool may_change_factor) const;
    void follow(const catalog::CatalogChange& change) const {
        if (plan_ != nullptr) {
            plan_->follow(change);
        }
    }

  private:
    const BrokerId own_;
    NodePlan* plan_;
};

}  // namespace partita::logs
