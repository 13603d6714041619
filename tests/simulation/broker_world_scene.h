#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/broker_world_clients.h"
#include "tests/simulation/broker_world_ledger.h"

namespace partita::test {

/// A part of a history: clients that share a task, and the diary of what must be true for them. The seed chooses which scenes a
/// history has.
class Scene {
  public:
    virtual ~Scene() = default;

    /// Configs that the broker needs.
    [[nodiscard]] virtual std::vector<std::string> overrides() const { return {}; }
    [[nodiscard]] virtual std::vector<std::unique_ptr<SimulatedClient>> clients() = 0;
    /// Called when every available reply has been read.
    virtual void replies_were_read() {}
    /// Called when the broker died and has begun anew.
    virtual void broker_died(Instant /*died*/, Instant /*started*/, bool /*is_power_failure*/) {}
    /// The partitions that the auditor reads from beginning to end when everything is at rest.
    [[nodiscard]] virtual std::vector<Ledger::Place> places() const { return {}; }
};

/// A topic that is deleted and made again: nothing of the former topic (records, commits, its id) ever comes back.
[[nodiscard]] std::unique_ptr<Scene> passing_topic(ClientsWorld& world);
/// A group whose members speak KIP-848: a partition has one owner.
[[nodiscard]] std::unique_ptr<Scene> consumer_group(ClientsWorld& world, std::vector<std::string> topics);
/// A topic with keys that grows in mode `fenced` or `guarded` while producers with old metadata write to it. A group is given the
/// records of a key and producer in their order. A guarded topic grows when it is drained and silent and not before; a fenced one
/// grows to multiples of its count. All acknowledged records are read in the end.
[[nodiscard]] std::unique_ptr<Scene> ordered_topic(ClientsWorld& world, bool is_fenced);
/// A topic that keeps only the newest record of each key, at its offset.
[[nodiscard]] std::unique_ptr<Scene> compacted_topic(ClientsWorld& world);
/// A topic that drops records when they are old, and not before.
[[nodiscard]] std::unique_ptr<Scene> expiring_topic(ClientsWorld& world);
/// Workers that fence each other take work from positions and emit it within transactions: all of it is there, once, and in
/// order.
[[nodiscard]] std::unique_ptr<Scene> exactly_once(ClientsWorld& world);
/// Clients with a quota and topics with a limit, both of which change: an acknowledged setting is in force, and stays.
[[nodiscard]] std::unique_ptr<Scene> limits(ClientsWorld& world);

}  // namespace partita::test
