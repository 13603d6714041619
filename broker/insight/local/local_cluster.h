#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "broker/insight/facts/cluster.h"
#include "broker/insight/local/local_groups.h"

/// The broker's own cluster as facts.

namespace partita {
class Clock;
}

namespace partita::logs {
class PublishedTopics;
}  // namespace partita::logs

namespace partita::runtime {
class Connections;
class GroupShards;
class TransactionShards;
}  // namespace partita::runtime

namespace partita::insight {

class KeyObserver;
struct PlanSources;

/// The connections to the broker.
class LocalClients final : public ObservedClients {
  public:
    explicit LocalClients(runtime::Connections& connections) : connections_(connections) {}

    [[nodiscard]] std::optional<ConnectionFacts> find(ConnectionId connection) const override;
    [[nodiscard]] std::optional<ConnectionFacts> coordinator_of(std::string_view group,
                                                                std::string_view member_id) const override;
    [[nodiscard]] std::vector<SpeakingConnection> called(std::string_view client_id, std::size_t most) const override;
    [[nodiscard]] bool knows_all() const override;
    bool want_process(ConnectionId connection) override;

  private:
    runtime::Connections& connections_;
};

/// The cluster that the broker serves.
class LocalCluster final : public ObservedCluster {
  public:
    struct Parts {
        const logs::PublishedTopics& topics;
        runtime::GroupShards& groups;
        runtime::TransactionShards& transactions;
        runtime::Connections& connections;
    };
    explicit LocalCluster(const Parts& parts) : parts_(parts), groups_(parts.groups), clients_(parts.connections) {}

    [[nodiscard]] std::shared_ptr<const ObservedTopics> topics() const override;
    [[nodiscard]] const ObservedGroups& groups() const override { return groups_; }
    [[nodiscard]] ObservedClients& clients() const override { return clients_; }

    /// The parts behind the facts, for callers that lock and change them.
    [[nodiscard]] const Parts& parts() const { return parts_; }

  private:
    const Parts parts_;
    const LocalGroups groups_;
    mutable LocalClients clients_;
};

/// The sources of facts for a plan about one of the broker's own topics, with the parts that a growth locks and changes.
struct LocalPlanSources {
    const LocalCluster& cluster;
    KeyObserver& keys;
    Clock& clock;

    [[nodiscard]] PlanSources facts() const;
};

}  // namespace partita::insight
